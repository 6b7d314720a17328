"""The units of a stream: how far its logits spread, and how far apart unrelated frames are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

SMALLEST_DISTANCE = 0.02
"""Frames that all look alike are treated as if unrelated ones were this far apart."""

FRAMES_UNTIL_SURE = 32
"""The running mean of directions starts at zero with this weight: unrelated frames are first taken to be orthogonal."""

FRAMES_OF_SCALE = 1000
"""Frames over which the scale is averaged on an endless stream."""

LARGEST_STEP = 8.0
"""A frame whose logits spread further than this many times the running mean counts as one that spreads that far."""

LARGEST_FALL = 64.0
"""In the first frames, the running mean is not kept above this many times the present spread, in case the stream began
with a frame that spreads too far; but no frame divides it by more than this."""

SMALLEST_SPREAD, LARGEST_SPREAD = 1e-30, 1e30
"""Below the first, logits count as equal; above the second, they count as this far apart."""


@dataclass(frozen=True)
class Scale:
    """The units in which an `Observer` counts.

    Parameters
    ----------
    spread : float
        Largest minus smallest logit of a usual frame.
    distance : float
        1 - cos between the features of unrelated frames, on average.

    Examples
    --------
    >>> Scale(spread=9.6, distance=0.9)
    Scale(spread=9.6, distance=0.9)
    """

    spread: float
    distance: float

    def __post_init__(self) -> None:
        check.real("Scale.spread", self.spread, above=0)
        check.real("Scale.distance", self.distance, low=SMALLEST_DISTANCE, high=2)


def measure_scale(logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]]) -> Scale:
    """The scale of recorded streams: logits (T, K) and features (T, n) of unit length of each.

    The mean cosine between two frames drawn at random is the squared length of the mean direction.

    Examples
    --------
    >>> measure_scale([np.array([[1.0, 4.0]])], [np.eye(2)])
    Scale(spread=3.0, distance=0.5)
    """
    spread = usual_spread(logits)
    mean = np.concatenate(list(directions)).mean(axis=0, dtype=np.float64)
    return Scale(spread, float(max(1 - mean @ mean, SMALLEST_DISTANCE)))


def usual_spread(logits: Sequence[NDArray[Any]]) -> float:
    """Largest minus smallest logit of the median frame of all streams; refused if it is zero."""
    spread = float(np.median(np.concatenate([np.ptp(one, axis=1) for one in logits])))
    check.require(spread > 0, "logits", "differ between classes", "equal logits")
    return spread
