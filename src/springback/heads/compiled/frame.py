"""What a frame gives before any memory is asked, compiled; no single frame can upset it, of whatever length."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.scale import (
    FRAMES_OF_SCALE,
    FRAMES_UNTIL_SURE,
    LARGEST_FALL,
    LARGEST_SPREAD,
    LARGEST_STEP,
    SMALLEST_DISTANCE,
)

SHORTEST, LONGEST = 1e-12, 1e12
"""A vector is scaled first if its length is outside of these bounds, where its squares leave single precision."""


FLUSH_BELOW = 1e-30
"""What fades below this becomes zero, before it is a denormal number, which makes reading many times slower."""


@njit(cache=True, inner=True, error_model="numpy")
def size_of(vector: Any) -> Any:
    """The largest absolute number of a vector, and the length in units of it, 0 if the first is 0 or not finite."""
    top = total = vector.dtype.type(0)
    for j in range(vector.size):
        size = abs(vector[j])
        if size > top or np.isnan(size):
            top = size
    if top > 0 and np.isfinite(top):
        for j in range(vector.size):
            part = vector[j] / top
            total += part * part
    return top, np.sqrt(total)


@njit(cache=True, inner=True, error_model="numpy")
def to_unit(vector: Any, length: Any) -> Any:
    """Divide a vector by its length, in place, and return the length.

    `length` is the root of the sum of its squares, which is replaced if it has overflowed or underflowed. A vector of
    zeros stays; one with NaN or infinity becomes zero, and its length is not finite.
    """
    if not (length > SHORTEST and length < LONGEST):
        top, length = size_of(vector)
        if length == 0:
            vector[:] = 0
            return top
        for j in range(vector.size):
            vector[j] = vector[j] / top / length
        return top * length
    for j in range(vector.size):
        vector[j] /= length
    return length


@njit(cache=True, inner=True)
def next_spread(spread: float, reach: float, seen: float) -> float:
    """The running mean of spreads after frame number `seen`, whose logits spread by `reach`.

    A single frame moves the mean by a bounded factor, however far it spreads. A lasting change is followed: the mean
    grows by up to (LARGEST_STEP - 1) / FRAMES_OF_SCALE of itself with each frame.
    """
    reach = min(reach, LARGEST_SPREAD)
    if spread > 0:
        if seen <= FRAMES_UNTIL_SURE and reach > 0:
            spread = max(min(spread, LARGEST_FALL * reach), spread / LARGEST_FALL)
        reach = min(reach, LARGEST_STEP * spread)
    return spread + (reach - spread) / min(max(seen, 1.0), FRAMES_OF_SCALE)


@njit(cache=True, inner=True)
def next_distance(unit: Any, finite: bool, seen: Any, mean: Any) -> float:
    """The distance of unrelated frames after this one; moves the running mean of directions, after `seen` frames."""
    if finite:
        part = mean.dtype.type(1 / min(seen[0] + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE))
        for j in range(mean.size):
            mean[j] += part * (unit[j] - mean[j])
    return float(max(1 - np.float64(dot(mean, mean)), SMALLEST_DISTANCE))


@njit(cache=True, inner=True, fastmath={"contract", "reassoc"})
def dot(a: Any, b: Any) -> Any:
    """A . b in their own precision."""
    total = a.dtype.type(0)
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(cache=True, inner=True)
def largest(row: Any) -> Any:
    """The largest number of a row; NaN if anything is NaN."""
    top = row[0]
    for k in range(row.size):
        if row[k] > top or np.isnan(row[k]):
            top = row[k]
    return top


@njit(cache=True, inner=True)
def softmax(row: Any, sharp: float, out: Any) -> None:
    """Soft-max of sharp * row into `out`; zero everywhere if anything is NaN."""
    top = largest(row)
    total = 0.0
    for k in range(row.size):
        out[k] = np.exp(sharp * (row[k] - top))
        total += out[k]
    for k in range(row.size):
        out[k] = out[k] / total if not np.isnan(total) else 0.0


@njit(cache=True, inner=True)
def spread_of(row: Any) -> Any:
    """The largest minus the smallest number of a row without NaN; quicker to compile than NumPy's own."""
    top = bottom = row[0]
    for k in range(row.size):
        top = row[k] if row[k] > top else top
        bottom = row[k] if row[k] < bottom else bottom
    return np.float64(top) - np.float64(bottom)


@njit(cache=True, inner=True, error_model="numpy")
def sense_one(x: Any, centre: Any, unit_inputs: bool, direction: Any) -> Any:
    """The length of x (n,) minus the centre; writes its direction, which is 0 if the length is 0 or not finite."""
    n = x.size
    for j in range(n):
        direction[j] = x[j] - centre[j]
    length = np.sqrt(dot(direction[:n], direction[:n]))
    if unit_inputs:
        return to_unit(direction[:n], length)
    if not (length > SHORTEST and length < LONGEST):
        top, length = size_of(direction[:n])
        length = top * length if length > 0 else top
    if not np.isfinite(length):
        direction[:n] = 0
    return length


@njit(cache=True, inner=True)
def all_finite(row: Any) -> bool:
    """Whether a row has neither NaN nor infinity."""
    for k in range(row.size):  # noqa: SIM110 - a generator cannot be compiled
        if not np.isfinite(row[k]):
            return False
    return True


@njit(cache=True, makes_arrays=True)
def output_at_rest(weight: Any, bias: Any, rows: Any) -> Any:
    """W x + b of rows (T, n), each alone, so that the numbers do not depend on how many rows come together."""
    outputs = np.empty((rows.shape[0], weight.shape[0]))
    for t in range(rows.shape[0]):
        outputs[t] = weight @ rows[t] + bias
    return outputs
