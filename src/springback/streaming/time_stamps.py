"""Time stamps of any kind as numbers: numbers stay as they are, dates and durations become seconds.

Dates are counted from the beginning of 1970; a date without a time zone counts as UTC. A float64 resolves present-day
dates to 0.24 microseconds.
"""

import warnings
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

_SECOND = np.timedelta64(1, "s")
_EPOCH = np.datetime64(0, "s")
_NO_TIME = "NaN, NaT or infinity"
_FRAMES_TO_JUDGE = 16

LAST_COUNT = 2.0**53
"""One step after a larger number cannot be distinguished from it."""

FAR = 10
"""A memory that is longer or shorter than the usual step by more than this factor may be in another unit."""


def as_times(name: str, times: Any) -> NDArray[np.float64]:
    """One or many time stamps as float64 (n,), without NaN, NaT or infinity.

    Accepts numbers, NumPy's datetime64 and timedelta64, what can be converted to them (pandas, polars), and Python's
    datetime, date and timedelta.

    Examples
    --------
    >>> as_times("times", np.array(["1970-01-02", "1970-01-03"], "M8[D]"))
    array([ 86400., 172800.])
    """
    try:
        given = np.asarray(times)
    except ValueError:
        raise ValueError(f"{name} must be a flat list of time stamps; got {times!r}") from None
    stamps: Any
    if given.dtype.kind == "O":
        stamps = _of_objects(name, given.reshape(-1))
    elif given.dtype.kind in "Mm":
        stamps = _seconds(name, given)
    elif given.dtype.kind in "iuf":
        stamps = given.astype(np.float64)
    else:
        remedy = ": turn text into dates with np.array(times, 'datetime64[ms]')" if given.dtype.kind in "US" else ""
        raise TypeError(f"{name} must be numbers, dates or durations; got dtype {given.dtype}{remedy}")
    numbers: NDArray[np.float64] = np.array(stamps, np.float64).reshape(-1)
    check.require(bool(np.isfinite(numbers).all()), name, "be finite everywhere", _NO_TIME)
    return numbers


def as_elapsed(name: str, elapsed: Any) -> float:
    """A duration >= 0 as a number; a timedelta becomes seconds.

    Examples
    --------
    >>> as_elapsed("elapsed", timedelta(minutes=1))
    60.0
    """
    if isinstance(elapsed, timedelta | np.timedelta64):
        elapsed = float(as_times(name, elapsed)[0])
    return check.real(name, elapsed, low=0)


def times_of_frames(clock: float, steps: int, times: Any) -> NDArray[np.float64]:
    """Time stamps of the next `steps` frames of a stream whose last frame was at `clock` (NaN: none yet).

    Without `times`, frames are one step apart. Times that run backwards are refused.

    Examples
    --------
    >>> times_of_frames(4.0, 2, None), times_of_frames(4.0, 2, [6.0, 7.5])
    (array([5., 6.]), array([6. , 7.5]))
    """
    if times is None:
        start = -1.0 if np.isnan(clock) else clock
        if abs(start) + steps > LAST_COUNT:
            raise ValueError(f"times must be given: one step after {start:g} cannot be distinguished from it")
        return np.asarray(np.add.accumulate(np.concatenate([[start], np.ones(steps)]))[1:])
    stamps = as_times("times", times)
    check.require(len(stamps) == steps, "times", f"hold one time stamp for each of {steps} frames", len(stamps))
    if not np.isnan(clock):
        early = stamps[:1] < clock
        check.require(not early.any(), "times", f"never run backwards, nor before the last frame at {clock:g}", stamps)
    check.require(bool((stamps[1:] >= stamps[:-1]).all()), "times", "never run backwards", stamps)
    return stamps


def times_of_streams(
    clocks: NDArray[np.float64], steps: int, times: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times (T, B) of the next frames of B streams, and the time since the frame before each; see `times_of_frames`.

    Examples
    --------
    >>> times_of_streams(np.array([4.0, np.nan]), 1, np.array([[6.0, 7.5]]))
    (array([[6. , 7.5]]), array([[2., 1.]]))
    """
    if times is None:
        start = np.where(np.isnan(clocks), -1.0, clocks)
        if (np.abs(start) + steps > LAST_COUNT).any():
            raise ValueError(f"times must be given: one step after {start.max():g} cannot be distinguished from it")
        times = np.add.accumulate(np.concatenate([start[None], np.ones((steps, len(clocks)))]))[1:]
        return times, np.ones(times.shape)
    first = np.where(np.isnan(clocks), times[:1] - 1, clocks)
    gaps = np.diff(times, axis=0, prepend=first)
    check.require(bool((gaps >= 0).all()), "times", "never run backwards, nor before the last frame of a stream", times)
    return times, gaps


def time_of_frame(clock: float, time: Any) -> NDArray[np.float64]:
    """The time stamp of the next frame, (1,); one step after the last if `time` is None.

    Examples
    --------
    >>> time_of_frame(4.0, None), time_of_frame(4.0, 6.5)
    (array([5.]), array([6.5]))
    """
    if time is None:
        return times_of_frames(clock, 1, None)
    stamp = as_times("time", time)
    check.require(len(stamp) == 1, "time", "be one time stamp", time)
    check.require(not stamp[0] < clock, "time", f"be >= {clock:g}, the time of the last frame", float(stamp[0]))
    return stamp


class UnitCheck:
    """Warns, once, if a memory in the unit of time stamps is far from the usual step between them.

    A memory of two seconds hardly forgets a stream with 1,000 rows per second, and forgets one with a row per hour at
    once.

    Examples
    --------
    >>> import pytest
    >>> with pytest.warns(UserWarning, match="memory is 2, but"):
    ...     UnitCheck().see(np.full(5, 3600.0), memory=2.0)
    """

    def __init__(self) -> None:
        self._gaps: list[float] = []
        self._judged = False

    @property
    def is_judged(self) -> bool:
        """Whether there is nothing left to warn about."""
        return self._judged

    def see(self, gaps: NDArray[np.float64], memory: float) -> None:
        """Judge the gaps between time stamps, together with those before; a few single ones are collected first."""
        if self._judged or not np.isfinite(memory):
            return
        self._gaps += gaps[gaps > 0][:_FRAMES_TO_JUDGE].tolist()
        if len(self._gaps) < _FRAMES_TO_JUDGE and len(gaps) <= 1:
            return
        self._judged = len(self._gaps) > 1
        if self._judged:
            step = float(np.median(self._gaps))
            if not step / FAR <= memory <= step * FAR:
                times = f"{step / memory:.3g} times that" if step > memory else f"1/{memory / step:.3g} of that"
                warnings.warn(
                    f"memory is {memory:g}, but time stamps are usually {step:.3g} apart, {times}: with "
                    "memory_in='time', memory is in their unit, which is seconds for dates, and should be a few "
                    "steps long",
                    stacklevel=4,
                )


def _seconds(name: str, given: NDArray[Any]) -> NDArray[np.float64]:
    """Convert whole seconds and the fraction separately, so that nanoseconds since 1970 are rounded only once."""
    check.require(not np.isnat(given).any(), name, "be finite everywhere", _NO_TIME)
    try:
        since = given - _EPOCH if given.dtype.kind == "M" else given
        return np.asarray(since // _SECOND + (since % _SECOND) / _SECOND, np.float64)
    except TypeError:
        raise TypeError(f"{name} must be in days or shorter units; got dtype {given.dtype}") from None


def _of_objects(name: str, given: NDArray[Any]) -> list[float]:
    stamps = [_of_object(name, one) for one in given]
    check.require(not np.isnan(stamps).any(), name, "be finite everywhere", _NO_TIME)
    zones = {one.tzinfo is not None for one in given if isinstance(one, datetime)}
    check.require(len(zones) < 2, name, "have a time zone everywhere or nowhere", "dates with and without one")
    return stamps


def _of_object(name: str, one: Any) -> float:
    if isinstance(one, datetime | timedelta) and one != one:  # noqa: PLR0124 - pandas' NaT is both, and equals nothing
        return float("nan")
    if isinstance(one, datetime):
        return (one if one.tzinfo is not None else one.replace(tzinfo=UTC)).timestamp()
    if isinstance(one, date):
        return datetime(one.year, one.month, one.day, tzinfo=UTC).timestamp()
    if isinstance(one, timedelta):
        return one.total_seconds()
    if isinstance(one, np.datetime64 | np.timedelta64):
        return float(as_times(name, one)[0])
    try:
        return check.real(name, one)
    except TypeError:
        raise TypeError(f"{name} must be numbers, dates or durations; got {one!r}") from None
