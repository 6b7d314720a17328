"""The pace of a stream: what turns its time stamps into frames, so that a memory in frames fits any clock.

The usual step of a stream is the lower median of its last 15 gaps between time stamps, the present one among them; gaps
of zero do not count. A frame comes `gap / usual step` frames after the one before it, so stamps that are evenly apart
answer as none do, in any unit, and neither jitter nor a pause changes the pace. The first two frames are one frame
apart. A frame without a time stamp comes one usual step after the last one; before the first stamp, a step is 1.

This happens before any memory is asked, so it is the same for all of them; models count time in frames.
"""

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.time_stamps import time_of_frame, times_of_frames, times_of_streams

MemoryIn = Literal["frames", "time"]
"""The unit of a memory: frames of its stream, or the unit of the time stamps (seconds for dates)."""

UNITS: tuple[MemoryIn, ...] = ("frames", "time")

GAPS = 15
"""How many gaps between time stamps the usual step is the median of."""

_STAMP, _AT, _FIRST_GAP = 0, 1, 2
SIZE = _FIRST_GAP + GAPS
"""Numbers of a pace: the last time stamp, the time in frames then, and the last gaps; NaN where there is none."""

CLOCK = 1 + SIZE
"""Numbers of a clock and a pace together."""

AT_REST: NDArray[np.float64] = np.full(SIZE, np.nan)
AT_REST.flags.writeable = False
_AT_ONCE = 2**16
_TOO_COARSE = (
    "most frames have the time stamp of the frame before them, between which nothing is forgotten: "
    "give finer time stamps, or none if frames are evenly apart"
)


def usual_step(pace: NDArray[np.float64]) -> NDArray[np.float64]:
    """The usual step of streams (B, SIZE), (B,); 1 where no two time stamps are known.

    Examples
    --------
    >>> usual_step(AT_REST[None])
    array([1.])
    """
    return _lower_median(pace[:, _FIRST_GAP:], otherwise=1.0)


def time_now(pace: NDArray[np.float64], clock: NDArray[np.float64]) -> NDArray[np.float64]:
    """The time in the unit of the stamps when the clocks of streams show these frames, (B,); NaN before the first."""
    since = pace[:, _STAMP] + (clock - pace[:, _AT]) * usual_step(pace)
    return np.where(np.isnan(pace[:, _STAMP]), clock, since)


def stamps_in_frames(
    pace: NDArray[np.float64], clock: NDArray[np.float64], stamps: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Time stamps (T, B) of the next frames in frames, and the pace (B, SIZE) after them; clock (B,) is in frames, too.

    Examples
    --------
    >>> rest = AT_REST[None], np.array([np.nan])
    >>> stamps_in_frames(*rest, np.array([[10.0], [10.1], [10.2], [11.2]]))[0].ravel().round(6)
    array([ 0.,  1.,  2., 12.])
    """
    if not len(stamps):
        return stamps, pace
    now, untimed = time_now(pace, clock), np.isnan(pace[:, _STAMP]) & ~np.isnan(clock)
    _, gaps = times_of_streams(now, len(stamps), stamps)
    if len(gaps) > GAPS and (gaps == 0).mean() > 1 / 2:
        warnings.warn(_TOO_COARSE, stacklevel=2)
    known = pace[:, _FIRST_GAP:].T.copy()
    known[-1, untimed] = 1.0
    counted = np.where(gaps > 0, gaps, np.nan)
    counted[0, np.isnan(now)] = np.nan
    history = np.concatenate([known, counted])
    frames = np.empty_like(gaps)
    for start in range(0, len(gaps), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        frames[some] = gaps[some] / _steps(history[start + 1 : start + _AT_ONCE + GAPS])
    frames[0, np.isnan(now)] = 0.0
    begun = np.where(np.isnan(clock), 0.0, clock)
    times = np.add.accumulate(np.concatenate([begun[None], frames]))[1:]
    return times, np.column_stack([stamps[-1], times[-1], history[-GAPS:].T])


def next_times(
    name: str, steps: int, times: Any, clock: float, pace: NDArray[np.float64], memory_in: MemoryIn
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """When the next frames of one stream come in the unit of its memory, (T,), and its pace (SIZE,) after them.

    Parameters
    ----------
    name : str
        "times" if they are many, "time" if it is one; for messages.
    steps : int
        How many frames.
    times : Any
        Their time stamps; None: one usual step apart.
    clock : float
        The time of the last frame in the unit of the memory; NaN before the first.
    """
    require_times(times, memory_in)
    if times is None:
        return times_of_frames(clock, steps, None), pace
    now = float(time_now(pace[None], np.array([clock]))[0])
    stamps = time_of_frame(now, times) if name == "time" else times_of_frames(now, steps, times)
    if memory_in == "time":
        return stamps, pace
    frames, after = stamps_in_frames(pace[None], np.array([clock]), stamps[:, None])
    return frames[:, 0], after[0]


def elapsed_in_frames(pace: NDArray[np.float64], elapsed: float, memory_in: MemoryIn) -> float:
    """A silence in the unit of the time stamps as the model of one stream counts it."""
    return elapsed / float(usual_step(pace[None])[0]) if memory_in == "frames" else elapsed


def require_pace(name: str, given: NDArray[Any]) -> NDArray[np.float64]:
    """Refuse what no stream can lead to: infinities, and gaps that are not > 0."""
    check.array(name, given, shape=(SIZE,), dtype=np.float64, finite=False)
    check.require(not np.isinf(given).any(), name, "hold times, or NaN", "infinity")
    check.require(not (given[_FIRST_GAP:] <= 0).any(), name, "hold gaps > 0, or NaN", given[_FIRST_GAP:])
    return given


def require_times(times: Any, memory_in: MemoryIn) -> None:
    """Refuse frames without time stamps if the memory is in their unit."""
    if times is None and memory_in == "time":
        raise ValueError("times must be given, because the memory is in the unit of time stamps (memory_in='time')")


def _steps(history: NDArray[np.float64]) -> NDArray[np.float64]:
    """The usual step at each gap after the first `GAPS - 1`, from gaps (T + GAPS - 1, B)."""
    windows = (
        np.lib.stride_tricks.sliding_window_view(history, GAPS, axis=0) if len(history) > GAPS else history.T[None]
    )
    return _lower_median(windows, otherwise=1.0)


def _lower_median(gaps: NDArray[np.float64], otherwise: float) -> NDArray[np.float64]:
    """Of the numbers along the last axis, without NaN."""
    ordered = np.sort(gaps, axis=-1)
    middle = np.maximum((~np.isnan(gaps)).sum(axis=-1, keepdims=True) - 1, 0) // 2
    found = np.take_along_axis(ordered, middle, axis=-1)[..., 0]
    return np.where(np.isnan(found), otherwise, found)
