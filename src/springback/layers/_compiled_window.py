"""F as the last few inputs and how strongly each pulled, compiled for one stream; see `WindowState`."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, SMALLEST_DISTANCE
from springback.layers._compiled_sensing import dot

PLAIN = -1.0
"""In the place of `Springs.tuning`: similarity is the dot product."""


@njit(cache=True)
def measure_distance(unit: Any, of_features: float, finite: bool, seen: Any, mean: Any) -> float:
    """The distance of unrelated frames, after this one; moves the running mean of the directions of the features."""
    if finite:
        seen[0] += 1
        part = mean.dtype.type(1 / min(seen[0] + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE))
        whole = mean.dtype.type(1 / of_features)
        for j in range(mean.size):
            mean[j] += part * (unit[j] * whole - mean[j])
    return float(max(1 - np.float64(dot(mean, mean)), SMALLEST_DISTANCE))


@njit(cache=True)
def read_window(
    inputs: Any, strengths: Any, fade: Any, decay: float, direction: Any, tuning: float, constant: float, out: Any
) -> None:
    """F x into `out` (K,), after relaxing by one frame.

    `tuning` is that of `Springs`, divided by the distance of unrelated frames, or `PLAIN`; `constant` is the share of
    the constant component.
    """
    out[:] = 0
    for d in range(fade.size):
        weight = decay * fade[d]
        if weight == 0:
            continue
        if tuning == 0:
            alike = 1.0
        elif tuning == PLAIN:
            alike = np.float64(dot(inputs[d], direction))
        else:
            cosine = (np.float64(dot(inputs[d], direction)) - constant) / (1 - constant)
            alike = (1 - constant) * np.exp(tuning * (cosine - 1)) + constant
        alike *= weight
        for k in range(out.size):
            out[k] += alike * strengths[d, k]


@njit(cache=True)
def remember(inputs: Any, strengths: Any, strength: Any, direction: Any, here: int) -> None:
    """The frame takes the place of the one that was seen longest ago."""
    for j in range(direction.size):
        inputs[here, j] = direction[j]
    for k in range(strength.size):
        strengths[here, k] = strength[k]
