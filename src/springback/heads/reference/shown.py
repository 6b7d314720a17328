"""What a stream shows before any memory is asked, in plain NumPy."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM
from springback.heads.scale import (
    FRAMES_OF_SCALE,
    FRAMES_UNTIL_SURE,
    LARGEST_FALL,
    LARGEST_SPREAD,
    LARGEST_STEP,
    SMALLEST_DISTANCE,
    Scale,
)


class Shown(NamedTuple):
    """A stream of T frames, as all memories are given it; K classes, n features.

    Parameters
    ----------
    weight, bias : NDArray[np.float64]
        The frozen head, (K, n) and (K,).
    logits : NDArray[np.float64]
        Its answers, (T, K).
    units : NDArray[np.float64]
        The features minus the centre, of unit length, (T, n).
    inputs : NDArray[np.float64]
        What pulls: the same, or not of unit length if the settings say so, (T, n).
    gaps : NDArray[np.float64]
        Time since the frame before, (T,).
    scale : Scale | None
        The units of the stream, if they are given.
    trust : NDArray[np.float64]
        How far memory counts, (T,).
    frequent : NDArray[np.float64]
        The share of each class among the frozen answers before each frame, (T, K); 0 as far as none is known.
    """

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    logits: NDArray[np.float64]
    units: NDArray[np.float64]
    inputs: NDArray[np.float64]
    gaps: NDArray[np.float64]
    scale: Scale | None
    trust: NDArray[np.float64]
    frequent: NDArray[np.float64]


def gate_of(answers: Any, visible: Any, gaps: Any, classes: int, continuity: float) -> tuple[NDArray[np.float64], ...]:
    """How far memory counts, (T,): d = [c_t = c_(t-1)] - share(c_t);  z = S / sqrt(V);  0 ... 1 for z 1 ... 2 times.

    And the shares before each frame, (T, K).
    """
    trust, frequent, last = np.ones(len(answers)), np.zeros((len(answers), classes)), -1
    shares, sums = np.zeros(classes), np.zeros(3)
    for t, c in enumerate(answers):
        known = min(FORGETTING ** (gaps[t] - 1) * sums[0], 1)
        frequent[t] = known * shares
        sums = FORGETTING ** gaps[t] * sums
        if visible[t]:
            beyond = known * (float(c == last) - shares[c])
            sums = sums + np.array([1, beyond, beyond**2])
            shares, last = shares + (np.eye(classes)[c] - shares) / sums[0], c
        if continuity > 0:
            errors = (PRIOR_SUM + sums[1]) / np.sqrt(PRIOR_SQUARES + sums[2])
            trust[t] = np.clip(errors / continuity - 1, 0, 1)
    return trust, frequent


def distances_of(units: Any) -> NDArray[np.float64]:
    """1 - cos of unrelated frames as it is measured until each frame, (T,)."""
    distances, direction = np.empty(len(units)), np.zeros(units.shape[1])
    for t, x in enumerate(units):
        direction = direction + (x - direction) / min(t + 1 + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE)
        distances[t] = max(1 - direction @ direction, SMALLEST_DISTANCE)
    return distances


def spreads_of(logits: Any) -> NDArray[np.float64]:
    """Largest minus smallest logit of a usual frame as it is measured until each frame, (T,)."""
    spreads, spread = np.empty(len(logits)), 0.0
    for t, row in enumerate(logits):
        reach = min(np.ptp(row), LARGEST_SPREAD)
        if spread > 0:
            if t < FRAMES_UNTIL_SURE and reach > 0:
                spread = max(min(spread, LARGEST_FALL * reach), spread / LARGEST_FALL)
            reach = min(reach, LARGEST_STEP * spread)
        spread = spreads[t] = spread + (reach - spread) / min(t + 1, FRAMES_OF_SCALE)
    return spreads
