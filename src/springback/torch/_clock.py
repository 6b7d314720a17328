"""When the frames of an elastic model come: one clock for all its streams, or one for each of them."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.pace import SIZE, MemoryIn, next_times, require_times, stamps_in_frames, time_now
from springback.streaming.time_stamps import as_times, time_of_frame, times_of_frames, times_of_streams

Clock = float | NDArray[np.float64]
"""Time of the last frame in the unit of the memory: of all streams, or of each of them, (B,)."""

Gap = float | NDArray[np.float64]
"""How long after the one before it a frame comes, in that unit: in all streams, or in each of them, (B,)."""

NO_FRAME = math.nan
"""The time of the last frame before the first one."""

UNKNOWN = math.inf
"""The time of the last frame after the model was called directly, without a time stamp."""


def gaps_of_frames(
    clock: Clock, pace: NDArray[np.float64], n_frames: int, times: Any, memory_in: MemoryIn
) -> tuple[list[Gap], Clock, NDArray[np.float64]]:
    """The gap before each of the next frames, the time of the last of them, and the pace then; times (T,) or (T, B).

    Examples
    --------
    >>> from springback.streaming.pace import AT_REST
    >>> gaps_of_frames(4.0, AT_REST, 2, [6.0, 6.5], "time")[:2], gaps_of_frames(NO_FRAME, AT_REST, 2, None, "frames")[0]
    (([2.0, 0.5], 6.5), [1.0, 1.0])
    >>> gaps_of_frames(np.array([4.0, NO_FRAME]), AT_REST, 1, [[6.0, 5.0]], "time")[:2]
    ([array([2., 1.])], array([6., 5.]))
    """
    if np.isinf(clock).any():
        _refuse_unknown("times", times)
    require_times(times, memory_in)
    if times is None:
        return [1.0] * n_frames, *_after(clock, pace, n_frames)
    shape = np.shape(times)
    if np.ndim(clock) == 0 and len(shape) < 2:
        stamps, after = next_times("times", n_frames, times, float(clock), pace, memory_in)
        gaps = np.diff(stamps, prepend=stamps[0] - 1 if math.isnan(clock) else clock)
        return gaps.tolist(), float(stamps[-1]), after
    stamps = _of_each_stream(clock, n_frames, as_times("times", times), shape)
    n_streams = stamps.shape[1]
    clocks, paces = each(clock, n_streams), each_pace(pace, n_streams)
    if memory_in == "frames":
        stamps, paces = stamps_in_frames(paces, clocks, stamps)
    _, gaps = times_of_streams(clocks, n_frames, stamps)
    return list(gaps), stamps[-1], paces


def gap_of_frame(
    clock: Clock, pace: NDArray[np.float64], time: Any, memory_in: MemoryIn
) -> tuple[list[Gap], Clock, NDArray[np.float64]]:
    """The same for one frame; its time is that of all streams, or one for each of them, (B,).

    Examples
    --------
    >>> from springback.streaming.pace import AT_REST
    >>> gap_of_frame(4.0, AT_REST, 6.0, "time")[:2], gap_of_frame(UNKNOWN, AT_REST, None, "frames")[:2]
    (([2.0], 6.0), ([1.0], inf))
    """
    if np.isinf(clock).any():
        _refuse_unknown("time", time)
    if time is None:
        return gaps_of_frames(clock, pace, 1, None, memory_in)
    now = time_now(np.atleast_2d(pace), np.atleast_1d(clock)).reshape(np.shape(clock) or np.shape(pace)[:-1])
    if np.ndim(time) == 0 and np.ndim(clock) == 0:
        return gaps_of_frames(clock, pace, 1, time_of_frame(float(now), time), memory_in)
    stamps = as_times("time", time)
    latest = float(np.nanmax(now)) if np.isfinite(now).any() else NO_FRAME
    early = (np.broadcast_to(stamps, np.broadcast_shapes(stamps.shape, np.shape(now))) < now).any()
    check.require(
        not early, "time", f"be >= the time of the last frame of each stream (the latest is {latest:g})", time
    )
    return gaps_of_frames(clock, pace, 1, stamps[None] if len(stamps) > 1 else stamps, memory_in)


def each(clock: Clock, n_streams: int) -> NDArray[np.float64]:
    """A clock for each stream, (B,).

    Examples
    --------
    >>> each(4.0, 2)
    array([4., 4.])
    """
    return np.array(np.broadcast_to(clock, (n_streams,)), np.float64)


def each_pace(pace: NDArray[np.float64], n_streams: int) -> NDArray[np.float64]:
    """A pace for each stream, (B, SIZE)."""
    return np.array(np.broadcast_to(pace, (n_streams, SIZE)))


def _after(clock: Clock, pace: NDArray[np.float64], n_frames: int) -> tuple[Clock, NDArray[np.float64]]:
    """The clock after frames without time stamps, and the pace.

    A stream that has just begun joins the time and the pace of the one whose time is the latest.
    """
    if np.isinf(clock).any():
        return UNKNOWN, pace
    if np.ndim(clock) == 0:
        return float(times_of_frames(float(clock), n_frames, None)[-1]), pace
    clocks = np.asarray(clock)
    new = np.isnan(clocks)
    if new.all():
        return np.full(len(clocks), n_frames - 1.0), pace
    if new.any():
        paces = each_pace(pace, len(clocks))
        latest = int(np.nanargmax(time_now(paces, clocks)))
        clocks, pace = np.where(new, clocks[latest], clocks), np.where(new[:, None], paces[latest], paces)
    return clocks + n_frames, pace


def _of_each_stream(
    clock: Clock, n_frames: int, stamps: NDArray[np.float64], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """Time stamps (T, B) of a given shape (T,) or (T, B)."""
    n_streams = len(clock) if isinstance(clock, np.ndarray) and clock.ndim else shape[-1]
    fits = shape[:1] == (n_frames,) and shape[1:] in ((), (n_streams,))
    must = f"hold one time stamp for each of {n_frames} frames, or for each of {n_streams} streams in each of them"
    check.require(fits, "times", must, shape)
    return np.array(np.broadcast_to(stamps.reshape(n_frames, -1), (n_frames, n_streams)))


def _refuse_unknown(name: str, given: Any) -> None:
    must = (
        "be None after the model was called directly, because the time of that frame is not known (use step for every "
        "frame, or call reset(model) first)"
    )
    check.require(given is None, name, must, given)
