"""When the frames of an elastic model come: one clock for all its streams."""

import math
from typing import Any

import numpy as np

from springback import check
from springback.time_stamps import time_of_frame, times_of_frames

NO_FRAME = math.nan
"""The time of the last frame before the first one."""

UNKNOWN = math.inf
"""The time of the last frame after the model was called directly, without a time stamp."""


def gaps_of_frames(clock: float, n_frames: int, times: Any) -> tuple[list[float], float]:
    """How many frames after the one before it each of the next frames comes, and the time of the last of them.

    Examples
    --------
    >>> gaps_of_frames(4.0, 2, [6.0, 6.5]), gaps_of_frames(NO_FRAME, 2, None)
    (([2.0, 0.5], 6.5), ([1.0, 1.0], 1.0))
    """
    if clock == UNKNOWN:
        _refuse_unknown("times", times)
        return [1.0] * n_frames, UNKNOWN
    stamps = times_of_frames(clock, n_frames, times)
    if times is None:
        return [1.0] * n_frames, float(stamps[-1])
    gaps = np.diff(stamps, prepend=stamps[0] - 1 if math.isnan(clock) else clock)
    return gaps.tolist(), float(stamps[-1])


def gap_of_frame(clock: float, time: Any) -> tuple[list[float], float]:
    """The same for one frame.

    Examples
    --------
    >>> gap_of_frame(4.0, 6.0), gap_of_frame(UNKNOWN, None)
    (([2.0], 6.0), ([1.0], inf))
    """
    if clock == UNKNOWN:
        _refuse_unknown("time", time)
    return gaps_of_frames(clock, 1, None if time is None else time_of_frame(clock, time))


def _refuse_unknown(name: str, given: Any) -> None:
    must = (
        "be None after the model was called directly, because the time of that frame is not known (use step for every "
        "frame, or call reset(model) first)"
    )
    check.require(given is None, name, must, given)
