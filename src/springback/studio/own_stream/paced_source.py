"""A recorded source at a pace: playing at a speed, paused, or one frame at a time; a live one comes as it comes."""

import threading
import time
from collections.abc import Callable

from springback.live.frames import Bad, Frames
from springback.live.sources.source import Source

STEPS_MAX = 20
"""The largest number of pending steps; further key presses are ignored."""


class Pace:
    """When the next frame of a recorded source may come: playing at a speed, paused, or one step at a time."""

    def __init__(self, speed: int) -> None:
        self.speed, self.playing = speed, True
        self._steps, self._due = 0, 0.0
        self._changed = threading.Condition()

    def set(self, *, playing: bool | None = None, speed: int | None = None, steps: int = 0) -> None:
        """Play or pause, change the speed, or ask for some frames while paused."""
        with self._changed:
            self.playing = self.playing if playing is None else playing
            self.speed = self.speed if speed is None else speed
            self._steps = min(self._steps + steps, STEPS_MAX)
            self._changed.notify_all()

    def waits(self, is_stopped: Callable[[], bool], *, paced: bool) -> None:
        """Return when the next frame may come, or when the run is to stop."""
        while not is_stopped():
            with self._changed:
                now = time.monotonic()
                if self._steps and not self.playing:
                    self._steps -= 1
                    return
                if self.playing and (not paced or now >= self._due):
                    self._due = max(self._due + 1 / self.speed, now)
                    return
                left = self._due - now if self.playing else 0.5
                self._changed.wait(max(min(left, 0.5), 0.001))


class PacedSource(Source):
    """A source whose frames come one at a time and at a pace, unless it is live."""

    def __init__(self, source: Source, pace: Pace, is_over: Callable[[], bool]) -> None:
        self._source, self._pace, self._is_over = source, pace, is_over
        self._waiting: Frames | None = None
        self.signal, self.live, self.recorded = source.signal, source.live, source.recorded

    def read(self) -> Frames | None:
        """The next frame of a recorded source when it is due; what has come in of a live one."""
        self.lost = self._source.lost
        if self._source.live:
            self._pace.waits(self._is_over, paced=False)
            return self._source.read()
        if self._waiting is None:
            self._waiting = self._source.read()
        if self._waiting is None or not len(self._waiting):
            found, self._waiting = self._waiting, None
            return found
        self._pace.waits(self._is_over, paced=True)
        early = tuple(one for one in self._waiting.bad if one.before == 0)
        late = tuple(Bad(one.before - 1, one.why) for one in self._waiting.bad if one.before > 0)
        found = self._waiting.select(slice(0, 1), early)
        left = self._waiting.select(slice(1, None), late)
        self._waiting = left if len(left) or late else None
        return found
