"""Flat records on disk: any frozen dataclass of plain values and arrays as one safetensors file, without pickle."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.outside import from_json
from springback.storage import DamagedError, open_tensors, save_tensors

Record = TypeVar("Record")

KIND = "record"

_STORED_AS = {"bool": "uint8"}
_DTYPES = {"uint8", "int16", "int32", "int64", "float32", "float64", *_STORED_AS}
_NOT_FINITE = "not finite"


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
        "plain": json.dumps(plain, allow_nan=False),
        "dtypes": json.dumps({name: array.dtype.name for name, array in arrays.items()}),
    }
    stored = {name: array.astype(_STORED_AS.get(array.dtype.name, array.dtype)) for name, array in arrays.items()}
    save_tensors(path, stored, kind=KIND, metadata={**(metadata or {}), **about})


def load_record(path: Path, kind: type[Record]) -> Record:
    """The record of a file, which must be of the given class and have its fields, each of its type."""
    with open_tensors(path, kind=KIND) as file:
        about = file.metadata
        if about.get("record") != kind.__name__:
            raise DataError(f"{path} holds a {check.shown(about.get('record'))[1:-1]}, not a {kind.__name__}")
        arrays = {name: file.tensor(name) for name in file.names}
    try:
        dtypes = from_json(about.get("dtypes", ""), dict[str, str])
        check.require(set(dtypes) == set(arrays), "the dtypes", "be those of the arrays", sorted(dtypes))
        plain = from_json(about.get("plain", ""), dict[str, Any])
        values = {name: _tuples(value) for name, value in plain.items()}
        values |= {name: _restored(name, array, dtypes[name]) for name, array in arrays.items()}
        hints = get_type_hints(kind)
        names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
        check.require(set(values) == names, "the fields", f"be {', '.join(sorted(names))}", sorted(values))
        return kind(**{name: _typed(name, value, hints[name]) for name, value in values.items()})
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a usable {kind.__name__}: {error}") from error


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        raise TypeError(f"{name} must be a plain Python value; got {type(value).__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        return {_NOT_FINITE: repr(value)}
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
    """JSON as the plain values it was made of: lists were tuples, and numbers that JSON has no word for are words."""
    if isinstance(value, list):
        return tuple(_tuples(one) for one in value)
    if isinstance(value, dict) and value.keys() == {_NOT_FINITE}:
        return float(check.one_of("a number that is not finite", value[_NOT_FINITE], ("nan", "inf", "-inf")))
    return {key: _tuples(one) for key, one in value.items()} if isinstance(value, dict) else value


def _restored(name: str, array: NDArray[Any], dtype: str) -> NDArray[Any]:
    check.require(_STORED_AS.get(dtype, dtype) == array.dtype.name, f"the dtype of {name}", f"be {array.dtype}", dtype)
    if dtype == "bool":
        check.require(bool((array <= 1).all()), name, "be 0 or 1 everywhere", array.max())
    return array.astype(dtype, copy=False)


def _typed(name: str, value: Any, hint: Any) -> Any:
    """The value of a field, refused unless it is of the type that its class says."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    arrays = [one for one in choices if get_origin(one) is np.ndarray or one is np.ndarray]
    plain = tuple(one for one in choices if one not in arrays)
    if isinstance(value, np.ndarray):
        fits = Any in choices or any(_dtype_of(one) in (None, value.dtype) for one in arrays)
        check.require(fits, name, f"be of the type {hint}", f"an array of {value.dtype}")
        return value
    check.require(bool(plain), name, "be an array", value)
    try:
        return msgspec.convert(value, Union[plain])  # noqa: UP007
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error


def _dtype_of(hint: Any) -> np.dtype[Any] | None:
    """The dtype that `NDArray[...]` names; None if it leaves it open."""
    named = [one for part in get_args(hint) for one in get_args(part) if isinstance(one, type)]
    concrete = [one for one in named if issubclass(one, np.generic) and one.__module__ == "numpy"]
    try:
        return np.dtype(concrete[0]) if concrete else None
    except TypeError:
        return None
