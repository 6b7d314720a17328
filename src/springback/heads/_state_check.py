"""Refuse the state of a head that does not fit it, before compiled code receives it."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check

Memory = TypeVar("Memory", bound=tuple[NDArray[Any], ...])

_ROUNDING = 1e-3
_RANGES = {
    "odds": (0.0, 1.0),
    "posteriors": (0.0, 1.0),
    "keys": (-1.0, 1.0),
    "direction": (-1.0, 1.0),
    "shares": (0.0, 1.0),
    "answered": (0.0, 2.0**31),
    "seen": (0.0, 2.0**53),
    "spread": (0.0, 1e30),
    "short_term": (-1e30, 1e30),
    "classes": (-1e30, 1e30),
}
"""Which numbers a stream can lead to; others only have to be finite."""


def memory_from(rest: Memory, arrays: Mapping[str, NDArray[Any]]) -> Memory:
    """The memory that these arrays hold, which must have the dtypes and shapes of the one at rest."""
    kind: Any = type(rest)
    for name, part in zip(kind._fields, rest, strict=True):
        check.array(name, arrays[name], shape=part.shape, dtype=part.dtype)
        if name in _RANGES and part.size:
            low, high = _RANGES[name]
            room = _ROUNDING * (high - low)
            least, most = float(arrays[name].min()), float(arrays[name].max())
            fits = least >= low - room and most <= high + room
            check.require(fits, name, f"lie in {low:g} ... {high:g}", (least, most))
    if "position" in kind._fields:
        check.integer("position", int(arrays["position"][0]), low=0, high=len(arrays["odds"]) - 1)
    memory: Memory = kind(**{name: np.ascontiguousarray(arrays[name]) for name in kind._fields})
    return memory
