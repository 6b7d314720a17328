"""Time stamps as steps of a model's memory; a frame that runs backwards, or leaps ahead, is bad."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.live.frames import Bad, Frames

LONGEST_GAP = 1e9
"""Steps between two frames; a longer gap is most likely a time stamp in another unit, or a broken one."""


class Clock:
    """Judges the time stamps of a stream by those before them.

    Parameters
    ----------
    step_s : float | None
        Seconds (or units of the time stamps) of one step; None: time stamps are not used.
    longest_gap : float
        Steps that may lie between two frames.
    since_s : float | None
        Time stamp of the last frame that the model has seen; None: it has seen none.

    Examples
    --------
    >>> frames = Frames(values=np.eye(3), seconds=np.array([0.0, 1e300, 1.0]))
    >>> found = Clock(0.5).in_order(frames)
    >>> found.seconds, found.bad[0].why
    (array([0., 1.]), 'time 1e+300 is more than 5e+08 after the frame before it, at 0')
    """

    def __init__(self, step_s: float | None, longest_gap: float = LONGEST_GAP, since_s: float | None = None) -> None:
        self._step_s = step_s
        self._last: dict[str | None, float] = {} if since_s is None else {None: since_s}
        self._longest = check.real("longest_gap", longest_gap, above=0) * (step_s or 1.0)

    def in_order(self, frames: Frames) -> Frames:
        """The frames whose time stamps can be used; the others are bad."""
        if self._step_s is None or not len(frames):
            return frames
        if frames.seconds is None:
            raise DataError("the source has no time stamps, so the length of a step cannot be used: leave it out")
        seconds = frames.seconds
        if frames.keys is None:
            gaps = np.diff(seconds, prepend=self._last.get(None, seconds[0]))
            if (gaps >= 0).all() and (gaps <= self._longest).all():
                self._last[None] = float(seconds[-1])
                return frames
        return self._judged(frames, seconds.tolist())

    def _judged(self, frames: Frames, seconds: list[float]) -> Frames:
        """One frame after another; the first of a stream is judged by the one after it, if that is there already."""
        good: list[int] = []
        bad: list[tuple[int, str]] = [(one.before, one.why) for one in frames.bad]
        keys: Sequence[str | None] = frames.keys or [None] * len(seconds)
        coming: dict[str | None, float] = {}
        after = []
        for key, now in zip(reversed(keys), reversed(seconds), strict=True):
            after.append(coming.get(key, now))
            coming[key] = now
        for number, (key, now, following) in enumerate(zip(keys, seconds, reversed(after), strict=True)):
            why, last = "", self._last.get(key)
            if last is None:
                if now - following > self._longest:
                    why = f"is more than {self._longest:g} after the frame that follows it, at {following:g}"
            elif now < last:
                why = f"runs backwards: the frame before it was at {last:g}"
            elif now - last > self._longest:
                why = f"is more than {self._longest:g} after the frame before it, at {last:g}"
            if why:
                stamp = now if frames.stamps is None else frames.stamps[number]
                bad.append((number, f"time {stamp} {why}"))
            else:
                good.append(number)
                self._last[key] = now
        bad.sort(key=lambda one: one[0])
        places = np.searchsorted(good, [number for number, _ in bad]).tolist()
        told = tuple(Bad(place, why) for place, (_, why) in zip(places, bad, strict=True))
        return frames.select(np.array(good, np.int64), told)

    def steps(self, frames: Frames) -> NDArray[np.float64] | None:
        """The time stamps in steps; None: they are not used."""
        return None if self._step_s is None or frames.seconds is None else frames.seconds / self._step_s
