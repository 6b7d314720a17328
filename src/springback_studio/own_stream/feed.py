"""The source of the command line, followed by one thread for all tabs, each of which sees what is newest.

A recorded source is played at a pace: at a speed, paused, or one frame at a time; a live one comes as it comes.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.extras import MissingExtraError
from springback.live.frames import Bad, Frames
from springback.live.labels import KnownLabels
from springback.live.sources.source import Source
from springback_studio.own_stream.answers import AnswerCounts, FrameAnswer, largest, remembered
from springback_studio.own_stream.stream import OwnStream
from springback_studio.tab import INTERNAL_ERROR

STEPS_MAX = 20
"""The largest number of pending steps; further key presses are ignored."""


class Playback:
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

    def __init__(self, source: Source, pace: Playback, is_over: Callable[[], bool]) -> None:
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


if TYPE_CHECKING:
    from springback.live.follower import Follower
    from springback.live.frames import Answers

WIDEST = 192
"""The largest width or height of a picture that is sent to the page."""

OUTLINE = 256
"""How many pairs of smallest and largest sample a sound is sent as."""

CHANNELS_MAX = 32

KEPT_COLUMNS = 240
"""How many answers a page that is opened late is shown, and how many a page that is slow can catch up on."""

_PATIENCE_S = 0.3
"""How long the end of the studio waits for the thread, which may be in the middle of a frame."""


class Feed:
    """Follows a source in a thread of its own, from the first page that asks until the studio is closed.

    `version` grows with everything that happens. A page asks for what is new since the version it has.
    """

    def __init__(self, stream: OwnStream) -> None:
        self.stream = stream
        self.pace = Playback(stream.speed)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._again = threading.Event()
        self._thread: threading.Thread | None = None
        self._columns: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT_COLUMNS)
        self._counts = AnswerCounts()
        self._shown: tuple[dict[str, Any], bytes] = ({"kind": "nothing"}, b"")
        self._memory: list[list[float]] | None = None
        self.names: list[str] = []
        self.version, self.state, self.why, self.live, self.bad, self.reason = 0, "waiting", "", False, 0, ""

    def start(self) -> None:
        """Begin to follow, if it has not begun."""
        with self._lock:
            if self._thread is None or (not self._thread.is_alive() and self.state == "failed"):
                self._stop.clear()
                self.state, self.why = "starting", ""
                self._thread = threading.Thread(target=self._run, name="studio source", daemon=True)
                self._thread.start()

    def restart(self) -> None:
        """Open the source again from its beginning, and return to rest."""
        self._again.set()
        self.pace.set()
        self.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self.pace.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._again.clear()
            try:
                self._follow()
                self._say("ended", "The source has ended." if not self.live else "The source was closed.")
            except (DataError, MissingExtraError, ValueError, TypeError) as error:
                self._say("failed", " ".join(str(error).split()))
                return
            except Exception:
                logging.getLogger(__name__).exception("the source could not be followed")
                self._say("failed", INTERNAL_ERROR)
                return
            while not (self._again.wait(0.2) or self._stop.is_set()):
                pass

    def _follow(self) -> None:
        from springback.live.following import Tally, answers

        opener = self.stream.open_source
        if opener is None:
            raise DataError("no source was given")
        follower = self.stream.opened()
        tally = Tally()
        with opener(follower) as source:
            with self._lock:
                self.names, self.live = [str(one) for one in follower.classes], source.live
                self._counts.restart()
                self._columns.clear()
                self.version += 1
                self.state, self.why, self.bad, self.reason = "running", "", 0, ""
            paced = PacedSource(source, self.pace, self._is_over)
            for given in answers(
                paced, follower, step_s=self.stream.step_s, is_stopped=self._is_over, tally=tally, waits=True
            ):
                self._take(given, follower, source.signal.kind, tally)

    def _is_over(self) -> bool:
        return self._stop.is_set() or self._again.is_set()

    def _take(self, given: "Answers | None", follower: "Follower", kind: str, tally: Any) -> None:
        memory = remembered(follower.model)
        with self._lock:
            if tally.bad != self.bad:
                self.bad, self.reason = tally.bad, tally.reasons[-1] if tally.reasons else ""
                self.version += 1
            if given is None:
                return
            self._memory = None if memory is None else largest(memory)
            posterior, frozen, novelty, _ = given.followed
            truths = given.frames.labels
            known = KnownLabels(follower.classes)
            for number in range(len(given)):
                truth = None if truths is None else known.place(truths[number])
                told = FrameAnswer(posterior[number], frozen[number], float(novelty[number]), None)
                self.version += 1
                column = self._counts.add(told, truth)
                if kind == "rows":
                    column["values"] = preview(kind, given.frames.values[number])[0]["values"]
                self._columns.append((self.version, column))
            self._shown = preview(kind, given.frames.values[-1])

    def _say(self, state: str, why: str) -> None:
        with self._lock:
            self.state, self.why = state, why
            self.version += 1

    def since(self, version: int) -> tuple[int, dict[str, Any], bytes]:
        """The version now, what a page with an older version has to be told, and the bytes of the newest frame."""
        with self._lock:
            shown, data = self._shown
            said = {
                "state": self.state,
                "why": self.why,
                "live": self.live,
                "playing": self.pace.playing,
                "speed": self.pace.speed,
                "shown": shown,
                "memory": self._memory,
                "columns": [column for at, column in self._columns if at > version],
                "bad": self.bad,
                "reason": self.reason,
                **self._counts.said(),
            }
            return self.version, said, data


def preview(kind: str, frame: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
    """A description of the frame, and its bytes; pictures are RGB, sounds signed bytes, rows have none.

    Examples
    --------
    >>> preview("rows", np.array([1.0, 2.5]))
    ({'kind': 'rows', 'of': 2, 'values': [1.0, 2.5]}, b'')
    >>> preview("pictures", np.zeros((400, 600, 3), np.uint8))[0]
    {'kind': 'pictures', 'height': 100, 'width': 150}
    """
    if kind == "pictures":
        small = np.ascontiguousarray(_reduced(np.asarray(frame, np.uint8)))
        return {"kind": kind, "height": small.shape[0], "width": small.shape[1]}, small.tobytes()
    if kind == "sound":
        parts = np.array_split(np.asarray(frame, np.float64).ravel(), min(OUTLINE, frame.size))
        pairs = np.array([(part.min(), part.max()) for part in parts])
        codes = np.rint(127 * np.clip(pairs, -1, 1)).astype(np.int8)
        return {"kind": kind, "pairs": len(codes)}, codes.tobytes()
    row = np.asarray(frame, np.float64).ravel()
    values = [float(f"{one:.5g}") for one in row[:CHANNELS_MAX]]
    return {"kind": "rows", "of": row.size, "values": values}, b""


def _reduced(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Means over squares of pixels, so that the picture is at most `WIDEST` wide and high."""
    side = -(-max(picture.shape[:2]) // WIDEST)
    high, wide = (size // side for size in picture.shape[:2])
    squares = picture[: high * side, : wide * side].reshape(high, side, wide, side, -1)
    means: NDArray[np.uint8] = squares.mean(axis=(1, 3), dtype=np.float32).astype(np.uint8)
    return np.repeat(means, 3, axis=2) if means.shape[2] == 1 else means[:, :, :3]
