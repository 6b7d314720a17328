"""What a frame gives before any memory is asked, as in `_sensing`, compiled for one stream."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads._units import LONGEST, SHORTEST, to_unit

FLUSH_BELOW = 1e-30
"""What fades below this becomes zero, before it is a denormal number, which makes reading many times slower."""

LARGEST_LOG = 69.0
"""A frame that comes early undoes part of the relaxation by one frame, but never overflows."""


@njit(cache=True, fastmath={"contract", "reassoc"})
def dot(a: Any, b: Any) -> Any:
    """A . b in their own precision."""
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(cache=True)
def largest(row: Any) -> Any:
    """The largest number of a row; NaN if anything is NaN."""
    top = row[0]
    for k in range(row.size):
        if row[k] > top or np.isnan(row[k]):
            top = row[k]
    return top


@njit(cache=True)
def spread_of(row: Any) -> Any:
    """The largest minus the smallest number of a row without NaN; quicker to compile than NumPy's own."""
    top = bottom = row[0]
    for k in range(row.size):
        top = row[k] if row[k] > top else top
        bottom = row[k] if row[k] < bottom else bottom
    return np.float64(top) - np.float64(bottom)


@njit(cache=True, error_model="numpy")
def sense_one(x: Any, centre: Any, unit_inputs: bool, direction: Any) -> Any:
    """The length of x (n,) minus the centre; writes its direction, which is 0 if the length is 0 or not finite."""
    n = x.size
    for j in range(n):
        direction[j] = x[j] - centre[j]
    length = np.sqrt(dot(direction[:n], direction[:n]))
    if unit_inputs:
        return to_unit(direction[:n], length)
    if not (length > SHORTEST and length < LONGEST):
        length = to_unit(direction[:n].copy(), length)
    if not np.isfinite(length):
        direction[:n] = 0
    return length


@njit(cache=True)
def all_finite(row: Any) -> bool:
    """Whether a row has neither NaN nor infinity."""
    for k in range(row.size):  # noqa: SIM110 - a generator cannot be compiled
        if not np.isfinite(row[k]):
            return False
    return True
