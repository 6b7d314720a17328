"""Flat records on disk: any frozen dataclass of plain values and arrays as one safetensors file, without pickle."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.storage import open_tensors, save_tensors

Record = TypeVar("Record")

KIND = "record"

_STORED_AS = {"bool": "uint8"}
_DTYPES = {"uint8", "int16", "int32", "int64", "float32", "float64", *_STORED_AS}


def save_record(record: Any, path: Path, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write a flat record; `metadata` goes along with it and is not part of it.

    Every field is an int, float, str, bool, None, a tuple or a str-keyed dict of those, or a NumPy array. Anything else
    is refused, so that what is read back equals what was written.
    """
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"a record must be a dataclass; got {type(record).__name__}")
    plain, arrays = {}, {}
    for field in fields(record):
        value = getattr(record, field.name)
        name = f"{type(record).__name__}.{field.name}"
        if isinstance(value, np.ndarray):
            if value.dtype.name not in _DTYPES:
                raise TypeError(f"{name} must be an array of numbers; got dtype {value.dtype}")
            arrays[field.name] = value
        else:
            plain[field.name] = _plain(name, value)
    about = {
        "record": type(record).__name__,
        "plain": json.dumps(plain),
        "dtypes": json.dumps({name: array.dtype.name for name, array in arrays.items()}),
    }
    stored = {name: array.astype(_STORED_AS.get(array.dtype.name, array.dtype)) for name, array in arrays.items()}
    save_tensors(path, stored, kind=KIND, metadata={**(metadata or {}), **about})


def load_record(path: Path, kind: type[Record]) -> Record:
    """The record of a file, which must be of the given class and have its fields."""
    with open_tensors(path, kind=KIND) as file:
        about = file.metadata()
        if about.get("record") != kind.__name__:
            raise DataError(f"{path} holds a {about.get('record')}, not a {kind.__name__}")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    try:
        dtypes = json.loads(about["dtypes"])
        values: dict[str, Any] = {name: _tuples(value) for name, value in json.loads(about["plain"]).items()}
        values |= {name: _restored(array, dtypes[name]) for name, array in arrays.items()}
        return kind(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is not a usable {kind.__name__}: {error}") from error


def record_metadata(path: Path) -> dict[str, str]:
    """What was written along with a record."""
    with open_tensors(path, kind=KIND) as file:
        return dict(file.metadata())


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        raise TypeError(f"{name} must be a plain Python value; got {type(value).__name__}")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple):
        return [_plain(name, one) for one in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{name} must have str keys; got {key!r}")
        return {key: _plain(name, one) for key, one in value.items()}
    raise TypeError(f"{name} must be a number, str, bool, None, tuple, dict or array; got {type(value).__name__}")


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(one) for one in value)
    return {key: _tuples(one) for key, one in value.items()} if isinstance(value, dict) else value


def _restored(array: NDArray[Any], dtype: str) -> NDArray[Any]:
    return array if array.dtype.name == dtype else array.astype(dtype)
