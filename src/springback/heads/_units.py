"""Compiled arithmetic that no single frame can upset: directions of any length, and the running mean of spreads."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, LARGEST_FALL, LARGEST_SPREAD, LARGEST_STEP

SHORTEST, LONGEST = 1e-12, 1e12
"""A vector is scaled first if its length is outside of these bounds, where its squares leave single precision."""


@njit(cache=True)
def to_unit(vector: Any, length: Any) -> Any:
    """Divide a vector by its length, in place, and return the length.

    `length` is the root of the sum of its squares, which is replaced if it has overflowed or underflowed. A vector of
    zeros stays; one with NaN or infinity becomes zero, and its length is not finite.
    """
    if length > SHORTEST and length < LONGEST:
        vector /= length
        return length
    top = vector.dtype.type(0)
    for j in range(vector.size):
        size = abs(vector[j])
        if size > top or np.isnan(size):
            top = size
    if not np.isfinite(top):
        vector[:] = 0
    elif top > 0:
        vector /= top
        length = np.sqrt((vector * vector).sum())
        vector /= length
        return top * length
    return top


@njit(cache=True)
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
