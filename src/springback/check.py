"""Checks of values, with one-sentence error messages: what a value must be, and what was given instead."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LONGEST = 200
"""How many characters of a value an error message repeats."""


_LONGEST_SENTENCE = 2000


class DataError(ValueError):
    r"""A file or a data source is not valid; the message says which one, and what to do.

    The message may quote the file, so control characters are replaced and its length is limited.

    Examples
    --------
    >>> str(DataError("a\x1b[31m name"))
    'a?[31m name'
    """

    def __init__(self, message: str) -> None:
        safe = "".join(one if one.isprintable() or one == "\n" else "?" for one in message[:_LONGEST_SENTENCE])
        super().__init__(safe if len(message) <= _LONGEST_SENTENCE else f"{safe} ...")


class FrameError(ValueError):
    """A model refuses a frame, which it cannot compute with; it has not moved.

    Examples
    --------
    >>> raise FrameError("rows must be scaled down until they can be computed with")
    Traceback (most recent call last):
    springback.check.FrameError: rows must be scaled down until they can be computed with
    """


def overflow(where: str = "them") -> FrameError:
    """Refuses finite rows whose answers are not finite.

    Examples
    --------
    >>> str(overflow("row 7"))
    'rows must be scaled down until they can be computed with; got NaN or infinity from row 7'
    """
    return FrameError(f"rows must be scaled down until they can be computed with; got NaN or infinity from {where}")


def require(holds: bool, name: str, must: str, got: object) -> None:
    """Raise a one-sentence `ValueError` unless `holds`.

    Examples
    --------
    >>> require(-3.0 > 0, "Neuron.tau_membrane_ms", "be > 0", -3.0)
    Traceback (most recent call last):
    ValueError: Neuron.tau_membrane_ms must be > 0; got -3.0
    """
    if not holds:
        raise ValueError(f"{name} must {must}; got {shown(got)}")


def shown(value: object) -> str:
    """Any value as one line of limited length.

    Examples
    --------
    >>> shown("long " * 100)[-12:]
    'ong long ...'
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST * 3:
        return f"a number of more than {value.bit_length() * 3 // 10} digits"
    line = " ".join(repr(value).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


def real(
    name: str, value: Any, *, above: float | None = None, low: float | None = None, high: float | None = None
) -> float:
    """A finite number, optionally `> above`, `>= low`, `<= high`.

    Examples
    --------
    >>> real("Pull.gamma", 0.7, low=0)
    0.7
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number; got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    require(bool(np.isfinite(number)), name, "be finite", value)
    if above is not None:
        require(number > above, name, f"be > {above:g}", value)
    if low is not None:
        require(number >= low, name, f"be >= {low:g}", value)
    if high is not None:
        require(number <= high, name, f"be <= {high:g}", value)
    return number


def integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """A whole number, optionally `>= low` and `<= high`.

    Examples
    --------
    >>> integer("frames", 11, low=1)
    11
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number; got {shown(value)}")
    number = int(value)
    if low is not None:
        require(number >= low, name, f"be >= {low}", number)
    if high is not None:
        require(number <= high, name, f"be <= {high}", number)
    return number


def sizes(record: object, **least: int) -> None:
    """Whole numbers in fields of a record, each at least as large as given.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> sizes(SimpleNamespace(frames=0), frames=1)
    Traceback (most recent call last):
    ValueError: SimpleNamespace.frames must be >= 1; got 0
    """
    for name, low in least.items():
        integer(f"{type(record).__name__}.{name}", getattr(record, name), low=low)


def reals(
    record: object,
    *names: str,
    above: float | None = None,
    low: float | None = None,
    high: float | None = None,
    or_none: bool = False,
) -> None:
    """Finite numbers in fields of a record, all with the same bounds.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> reals(SimpleNamespace(tau_ms=-1.0), "tau_ms", above=0)
    Traceback (most recent call last):
    ValueError: SimpleNamespace.tau_ms must be > 0; got -1.0
    """
    for name in names:
        value = getattr(record, name)
        if value is not None or not or_none:
            real(f"{type(record).__name__}.{name}", value, above=above, low=low, high=high)


def one_of(name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words.

    Examples
    --------
    >>> one_of("split", "exam", ("train", "test"))
    Traceback (most recent call last):
    ValueError: split must be one of 'train', 'test'; got 'exam'
    """
    require(isinstance(value, str) and value in choices, name, f"be one of {', '.join(map(repr, choices))}", value)
    return str(value)


def line(name: str, value: Any) -> str:
    """A short line of text that is safe to display: no control characters, at most 500 characters.

    Examples
    --------
    >>> line("data", "mnist train, first 60000")
    'mnist train, first 60000'
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str; got {shown(value)}")
    require(len(value) <= 500 and value.isprintable(), name, "be one line of at most 500 printable characters", value)
    return value


def array(name: str, value: Any, *, shape: tuple[int | None, ...], dtype: Any, finite: bool = True) -> NDArray[Any]:
    """An array of the given shape (None: any length) and exactly the given dtype, without NaN or infinity.

    Examples
    --------
    >>> array("weights", np.zeros((3, 2)), shape=(None, 2), dtype=np.float64).shape
    (3, 2)
    """
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array; got {type(value).__name__}")
    # States are checked at every frame, so a message is only formatted if it is needed.
    if value.shape != shape:
        wanted = f"({', '.join('any' if n is None else str(n) for n in shape)})"
        pairs = zip(shape, value.shape, strict=False)
        fits = value.ndim == len(shape) and all(n is None or n == have for n, have in pairs)
        require(fits, name, f"have shape {wanted}", value.shape)
    if value.dtype != dtype:
        require(False, name, f"have dtype {np.dtype(dtype)}", str(value.dtype))
    if finite and np.issubdtype(value.dtype, np.floating):
        require(bool(np.isfinite(value).all()), name, "be finite everywhere", "NaN or infinity")
    return value
