"""Values of any kind as plain values that JSON can hold, and back: records, labels, numbers."""

import json
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.outside import from_plain


def as_json(values: Any) -> str:
    """Values as JSON, NumPy's numbers among them; infinity and NaN are refused.

    Examples
    --------
    >>> as_json({"memory": np.float64(2.0), "depth": np.int64(3)})
    '{"depth": 3, "memory": 2.0}'
    """

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"a saved model can hold numbers, strings and lists of them; got {check.shown(value)}")

    return json.dumps(values, sort_keys=True, allow_nan=False, default=plain)


class _Tagged(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    values: dict[str, Any]


def record_as_plain(record: Any) -> dict[str, Any] | None:
    """A flat dataclass, with the name of its class; None stays None.

    Examples
    --------
    >>> from springback.elastic.kernels import Exponential
    >>> record_as_plain(Exponential(memory=2.0))
    {'kind': 'Exponential', 'values': {'memory': 2.0, 'odds': 1.0}}
    """
    if record is None:
        return None
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"a saved model can hold records of settings; got {check.shown(record)}")
    return {"kind": type(record).__name__, "values": {one.name: getattr(record, one.name) for one in fields(record)}}


def record_from_plain(name: str, plain: Any, kinds: tuple[type[Any], ...]) -> Any:
    """The record that `record_as_plain` described, which must be of one of the given classes; its own checks apply."""
    tagged = from_plain(plain, _Tagged)
    by_name = {kind.__name__: kind for kind in kinds}
    return from_plain(tagged.values, by_name[check.one_of(name, tagged.kind, tuple(by_name))])


class _Labels(msgspec.Struct, forbid_unknown_fields=True):
    dtype: str
    values: list[bool | int | float | str]


def labels_as_plain(name: str, labels: Any) -> dict[str, Any]:
    """Labels of any usual kind (whole numbers, numbers, strings, truth values) as values for JSON.

    Examples
    --------
    >>> labels_as_plain("classes_", np.array(["cat", "dog"]))
    {'dtype': 'str', 'values': ['cat', 'dog']}
    """
    given = np.asarray(labels)
    values = given.tolist()
    if given.dtype.kind == "O":
        check.require(all(isinstance(one, str) for one in values), name, "be numbers or strings to be saved", values)
        return {"dtype": "object", "values": values}
    check.require(given.dtype.kind in "biufU", name, "be numbers or strings to be saved", str(given.dtype))
    return {"dtype": "str" if given.dtype.kind == "U" else given.dtype.name, "values": values}


def labels_from_plain(name: str, plain: Any) -> NDArray[Any]:
    """The labels that `labels_as_plain` described.

    Examples
    --------
    >>> labels_from_plain("classes_", {"dtype": "int64", "values": [3, 5]})
    array([3, 5])
    """
    found = from_plain(plain, _Labels)
    if found.dtype in ("object", "str"):
        check.require(all(isinstance(one, str) for one in found.values), name, "be strings", found.values)
        return np.array(found.values, object if found.dtype == "object" else np.str_)
    kinds = [f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")]
    dtype = np.dtype(check.one_of(name, found.dtype, ("bool", *kinds, "float16", "float32", "float64")))
    labels = np.array(found.values, dtype)
    check.require(labels.tolist() == found.values, name, f"be labels of dtype {dtype}", found.values)
    return labels


def sorted_labels_from_plain(name: str, plain: Any) -> NDArray[Any]:
    """The classes that `labels_as_plain` described: at least one, sorted, each once."""
    labels = labels_from_plain(name, plain)
    ordered = len(labels) > 0 and bool((labels[1:] > labels[:-1]).all())
    check.require(ordered, name, "be sorted, each once", labels.tolist())
    return labels
