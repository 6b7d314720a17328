"""Records as plain values and arrays, and back: dataclasses and named tuples of numbers, text, arrays and each other.

A record is taken apart into values that JSON can hold, and arrays by name (`weights.resting`). It is put together again
by the types of its fields: no field may be missing, none may be added, and each value must be of its type. The checks
of a class's own `__post_init__` apply as well. Code that receives a record from here need not check its types again.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from types import UnionType
from typing import Any, Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.regular import LARGEST_TEXT

Kind = TypeVar("Kind")

TYPE, ARRAY, TEXTS, FLOAT = "$type", "$array", "$texts", "$float"
"""Keys of objects in JSON that stand for a record, an array, an array of text, and a number that JSON cannot hold."""


@dataclass(frozen=True, eq=False)
class LargeArray:
    """An array that need not fit into memory: dtype, shape, and a function that gives the rows start ... stop - 1."""

    dtype: str
    shape: tuple[int, ...]
    rows: Callable[[int, int], NDArray[Any]]


class Arrays(Protocol):
    """The arrays that belong to a record, by name."""

    names: tuple[str, ...]

    def array(self, name: str) -> NDArray[Any]:
        """A copy of an array."""

    def large(self, name: str) -> LargeArray:
        """An array that stays where it is."""


def take_apart(record: Any) -> tuple[Any, dict[str, NDArray[Any] | LargeArray]]:
    """A record as values for JSON, and its arrays by name.

    Examples
    --------
    >>> from springback.elastic.kernels import Exponential
    >>> take_apart(Exponential(memory=2.0))
    ({'$type': 'Exponential', 'memory': 2.0, 'odds': 1.0}, {})
    """
    arrays: dict[str, NDArray[Any] | LargeArray] = {}
    if _fields(type(record)) is None:
        raise TypeError(f"a record must be a dataclass or a named tuple; got {type(record).__name__}")
    return _apart((), record, arrays, type(record).__name__), arrays


def _apart(path: tuple[str, ...], value: Any, arrays: dict[str, NDArray[Any] | LargeArray], of: str) -> Any:
    name = ".".join((of, *path))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {FLOAT: repr(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray | LargeArray):
        return _array_apart(path, name, value, arrays)
    names = _fields(type(value))
    if names is not None:
        inside = {one: _apart((*path, one), getattr(value, one), arrays, of) for one in names}
        return {TYPE: type(value).__name__, **inside}
    if isinstance(value, tuple):
        return [_apart((*path, str(number)), one, arrays, of) for number, one in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or key.startswith("$"):
                raise TypeError(f"{name} must have names as keys; got {key!r}")
        return {key: _apart((*path, key), one, arrays, of) for key, one in value.items()}
    raise TypeError(
        f"{name} must be a number, text, bool, None, an array, or a tuple, dict or record of these to be saved; got "
        f"{check.shown(value)}"
    )


def _array_apart(path: tuple[str, ...], name: str, value: Any, arrays: dict[str, NDArray[Any] | LargeArray]) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        texts = value.tolist()
        check.require(value.ndim == 1 and all(isinstance(one, str) for one in texts), name, "be numbers or text", texts)
        return {TEXTS: "object" if value.dtype.kind == "O" else "str", "values": texts}
    at = ".".join(path)
    check.require(at not in arrays, name, "have a name that no other array has", at)
    arrays[at] = value
    return {ARRAY: np.dtype(value.dtype).name}


def put_together(plain: Any, kind: type[Kind], arrays: Arrays, *, finite: bool = True) -> Kind:
    """The record that `take_apart` took apart; anything else raises a one-line `TypeError` or `ValueError`.

    Parameters
    ----------
    kind : type
        The class of the record, or a union of classes.
    finite : bool
        Refuse NaN and infinity outside arrays.
    """
    left = set(arrays.names)

    def together(path: tuple[str, ...], value: Any, hint: Any) -> Any:
        name = ".".join(path) or "it"
        choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if isinstance(value, dict) and ARRAY in value:
            left.discard(name)
            return _array_together(name, value, choices, arrays)
        if isinstance(value, dict) and TEXTS in value:
            return _texts_together(name, value, choices)
        if isinstance(value, dict) and FLOAT in value:
            word = check.one_of(name, value[FLOAT], () if finite else ("nan", "inf", "-inf"))
            value = float(word)
        if isinstance(value, dict) and TYPE in value:
            named = {one.__name__: one for one in choices if isinstance(one, type) and _fields(one) is not None}
            found = named[check.one_of(f"the type of {name}", value[TYPE], tuple(named))]
            hints, given = _hints(found), {key: one for key, one in value.items() if key != TYPE}
            check.require(given.keys() == hints.keys(), name, f"have the fields {', '.join(hints)}", sorted(given))
            return found(**{key: together((*path, key), one, hints[key]) for key, one in given.items()})
        if isinstance(value, dict):
            inner = next((get_args(one)[1] for one in choices if get_origin(one) in (dict, Mapping)), None)
            inner = Any if Any in choices else inner
            check.require(inner is not None, name, f"be {getattr(hint, '__name__', hint)}", value)
            return {key: together((*path, key), one, inner) for key, one in value.items()}
        if isinstance(value, list):
            return tuple(
                together((*path, str(number)), one, inner)
                for number, (one, inner) in enumerate(zip(value, _inner(name, len(value), choices), strict=True))
            )
        return value if Any in choices else _scalar(name, value, choices, hint)

    try:
        found: Kind = together((), plain, kind)
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    check.require(not left, "it", "hold no arrays that its record does not name", sorted(left))
    return found


def _inner(name: str, length: int, choices: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of the elements of a tuple."""
    if Any in choices:
        return (Any,) * length
    for one in choices:
        if get_origin(one) is tuple:
            inner = get_args(one)
            if inner[-1:] == (Ellipsis,):
                return (inner[0],) * length
            check.require(len(inner) == length, name, f"have {len(inner)} elements", length)
            return inner
    raise ValueError(f"{name} must not be a list of values")


def _scalar(name: str, value: Any, choices: tuple[Any, ...], hint: Any) -> Any:
    plain = tuple(one for one in choices if get_origin(one) not in (tuple, dict, Mapping) and _fields(one) is None)
    plain = tuple(one for one in plain if one is not LargeArray and not _is_array(one))
    check.require(bool(plain), name, f"be {getattr(hint, '__name__', hint)}", value)
    try:
        return msgspec.convert(value, Union[plain])  # noqa: UP007
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error


def _array_together(name: str, value: dict[str, Any], choices: tuple[Any, ...], arrays: Arrays) -> Any:
    check.require(value.keys() == {ARRAY} and name in arrays.names, name, "be an array of the file", value)
    if LargeArray in choices:
        large = arrays.large(name)
        check.require(large.dtype == value[ARRAY], f"the dtype of {name}", f"be {large.dtype}", value[ARRAY])
        return large
    array = arrays.array(name)
    check.require(array.dtype.name == value[ARRAY], f"the dtype of {name}", f"be {array.dtype}", value[ARRAY])
    # not `in`: dtype("float64") equals None
    wanted = [_dtype(one) for one in choices if _is_array(one)]
    fits = Any in choices or any(one is None or one == array.dtype for one in wanted)
    must = "be no array" if not wanted else f"be an array of {' or '.join(map(str, wanted))}"
    check.require(fits, name, must, f"an array of {array.dtype}")
    return array


class _Texts(msgspec.Struct, forbid_unknown_fields=True, rename={"dtype": TEXTS}):
    dtype: str
    values: list[str]


def _texts_together(name: str, value: dict[str, Any], choices: tuple[Any, ...]) -> NDArray[Any]:
    open_to_all = Any in choices or any(_is_array(one) and _dtype(one) is None for one in choices)
    check.require(open_to_all, name, "be no text", value)
    found = msgspec.convert(value, _Texts)
    return np.array(found.values, object if check.one_of(name, found.dtype, ("object", "str")) == "object" else np.str_)


def _fields(kind: Any) -> tuple[str, ...] | None:
    """The names of the fields of a dataclass or a named tuple; None for any other type."""
    if not isinstance(kind, type) or kind is LargeArray:
        return None
    if is_dataclass(kind):
        return tuple(one.name for one in fields(kind))
    return getattr(kind, "_fields", None) if issubclass(kind, tuple) else None


@lru_cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    hints, names = get_type_hints(kind), _fields(kind)
    return {name: hints[name] for name in names or ()}


def _is_array(hint: Any) -> bool:
    """Whether a hint is `NDArray[...]`: short for a class before NumPy 2.5, an alias with a name of its own since."""
    return get_origin(hint) in (np.ndarray, NDArray)


def _dtype(hint: Any) -> np.dtype[Any] | None:
    """The dtype that `NDArray[...]` names; None if it leaves it open."""
    named = [one for part in get_args(hint) for one in (part, *get_args(part)) if isinstance(one, type)]
    concrete = [one for one in named if issubclass(one, np.generic) and one.__module__ == "numpy"]
    try:
        return np.dtype(concrete[0]) if concrete else None
    except TypeError:
        return None


def from_json(text: str | bytes, kind: type[Kind]) -> Kind:
    """Decode JSON as a value of the given type: no missing or unknown fields, finite numbers, limited nesting.

    Anything else raises a one-line `ValueError`. The checks of a dataclass's own `__post_init__` apply too.

    Examples
    --------
    >>> from_json('{"a": 1e400}', dict[str, float])
    Traceback (most recent call last):
    ValueError: Number out of range - at `$[...]`
    """
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"JSON must not exceed {LARGEST_TEXT:,} bytes; got {len(text):,}")
    return from_plain(decoded(text), kind)


def decoded(text: str | bytes) -> Any:
    """JSON as plain values; text that is not JSON raises a one-line `ValueError`."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(" ".join(str(error).split())) from error  # the message may quote the file
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error


def from_plain(plain: Any, kind: type[Kind]) -> Kind:
    """Decoded JSON as a value of the given type, under the rules of `from_json`.

    Examples
    --------
    >>> from_plain([1, 2], tuple[int, ...])
    (1, 2)
    """
    try:
        found = msgspec.convert(plain, kind)
        same = _same(plain, found)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    if not same:
        raise ValueError("it has unknown or missing fields")
    return found


def _same(given: Any, taken: Any) -> bool:
    """Whether the decoded value holds exactly what was given: nothing was dropped, and nothing was filled in."""
    if is_dataclass(taken):
        taken = {field.name: getattr(taken, field.name) for field in fields(taken)}
    elif isinstance(taken, msgspec.Struct):
        taken = msgspec.structs.asdict(taken)
    if isinstance(given, dict) and isinstance(taken, dict):
        return given.keys() == taken.keys() and all(_same(given[key], taken[key]) for key in given)
    if isinstance(given, list) and isinstance(taken, list | tuple):
        return len(given) == len(taken) and all(map(_same, given, taken))
    return bool(given == taken)
