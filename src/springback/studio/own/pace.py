"""The pace of a recorded source: playing at a speed, paused, or one frame at a time."""

import threading
import time
from collections.abc import Callable

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
