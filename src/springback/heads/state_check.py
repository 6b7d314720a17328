"""Refuse the state of a head that no stream can lead to, before compiled code or a network receives it."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check

Memory = TypeVar("Memory", bound=tuple[NDArray[Any], ...])

_ROUNDING = 2e-3
_LARGEST, _LAST = 1e30, 2.0**53
_SHARES = (-_ROUNDING, 1 + _ROUNDING)
_COSINES = (-1 - _ROUNDING, 1 + _ROUNDING)
_ANY = (-_LARGEST, _LARGEST)
_RANGES = {
    **dict.fromkeys(("odds", "posteriors", "shares"), _SHARES),
    "direction": _COSINES,
    **dict.fromkeys(("answered", "seen", "position"), (0.0, _LAST)),
    **dict.fromkeys(("spread", "responsibility", "total"), (0.0, _LARGEST)),
    **dict.fromkeys(("keys", "short_term", "strengths"), _ANY),
}
"""Which numbers a stream can lead to, by the name of the part; others only have to be finite."""

_WHOLE = ("answered", "seen", "position")


def require_reachable(name: str, part: NDArray[Any]) -> None:
    """Refuse numbers that a part of a state cannot have; the last word of `name` says which part it is.

    Examples
    --------
    >>> require_reachable("seen", np.array([-1.0]))
    Traceback (most recent call last):
    ValueError: seen must lie in 0 ... 9.0072e+15; got (-1.0, -1.0)
    """
    kind = name.rpartition(".")[2]
    check.array(name, part, shape=part.shape, dtype=part.dtype)
    if kind == "agreement" and part.shape[-1:] == (3,):
        _require_within(f"the counts of {name}", part[..., ::2], 0.0, _LAST)
    if kind in _RANGES:
        _require_within(name, part, *_RANGES[kind])
    if kind in _WHOLE:
        check.require(bool((part == np.floor(part)).all()), name, "hold whole numbers", part.ravel()[:1].tolist())


def _require_within(name: str, part: NDArray[Any], low: float, high: float) -> None:
    if part.size:
        least, most = float(part.min()), float(part.max())
        fits = least >= low and most <= high
        check.require(fits, name, f"lie in {round(low):g} ... {round(high):g}", (least, most))


def memory_from(rest: Memory, arrays: Mapping[str, NDArray[Any]]) -> Memory:
    """The memory that these arrays hold, which must have the dtypes and shapes of the one at rest."""
    kind: Any = type(rest)
    for name, part in zip(kind._fields, rest, strict=True):
        check.array(name, arrays[name], shape=part.shape, dtype=part.dtype)
        require_reachable(name, arrays[name])
    if "position" in kind._fields:
        check.integer("position", int(arrays["position"].max()), low=0, high=arrays["odds"].shape[-1] - 1)
    memory: Memory = kind(**{name: np.ascontiguousarray(arrays[name]) for name in kind._fields})
    return memory
