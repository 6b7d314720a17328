"""F as the last inputs and how strongly each pulled, compiled for one stream; see `WindowState`."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import dot
from springback.heads.memories.springs import NOT_TUNED


@njit(cache=True, inner=True)
def read_window(
    keys: Any, strengths: Any, odds: Any, fading: float, pulling: Any, tuning: float, constant: float, out: Any
) -> None:
    """F x into `out` (K,), after fading.

    `tuning` is that of `WindowSprings`, divided by the distance of unrelated frames, or `NOT_TUNED`; `constant` is the
    share of the constant component.
    """
    out[:] = 0
    for d in range(odds.size):
        left = fading * odds[d]
        if left == 0:
            continue
        if tuning == 0:
            alike = 1.0
        elif tuning == NOT_TUNED:
            alike = np.float64(dot(keys[d], pulling))
        else:
            cosine = (np.float64(dot(keys[d], pulling)) - constant) / (1 - constant)
            alike = (1 - constant) * np.exp(tuning * (cosine - 1)) + constant
        alike *= left
        for k in range(out.size):
            out[k] += alike * strengths[d, k]


@njit(cache=True, inner=True)
def remember(keys: Any, strengths: Any, odds: Any, position: Any, strength: Any, pulling: Any) -> None:
    """The frame takes the place of the one that was seen longest ago."""
    here = position[0]
    for j in range(pulling.size):
        keys[here, j] = pulling[j]
    for k in range(strength.size):
        strengths[here, k] = strength[k]
    odds[here] = 1
    position[0] = (here + 1) % odds.size
