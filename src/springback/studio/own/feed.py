"""The source of the command line, followed by one thread for all tabs: each tab sees what is newest."""

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from springback.check import DataError
from springback.extras import MissingExtraError
from springback.live.labels import KnownLabels
from springback.studio.own.account import Account, Told, largest
from springback.studio.own.pace import Pace
from springback.studio.own.preview import preview
from springback.studio.own.remembered import remembered
from springback.studio.own.stream import OwnStream

if TYPE_CHECKING:
    from springback.live.frames import Answers
    from springback.live.models.follower import Follower

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
        self.pace = Pace(stream.speed)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._again = threading.Event()
        self._thread: threading.Thread | None = None
        self._columns: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT_COLUMNS)
        self._account = Account()
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
                self._say("failed", "Internal error; see the terminal in which the studio was started.")
                return
            while not (self._again.wait(0.2) or self._stop.is_set()):
                pass

    def _follow(self) -> None:
        from springback.live.following import Tally, answers
        from springback.studio.own.paced_source import PacedSource

        opener = self.stream.open_source
        if opener is None:
            raise DataError("no source was given; add --source")
        follower = self.stream.opened()
        tally = Tally()
        with opener(follower) as source:
            with self._lock:
                self.names, self.live = [str(one) for one in follower.classes], source.live
                self._account.restart()
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
        memory = remembered(getattr(follower, "model", None))
        with self._lock:
            if tally.bad != self.bad:
                self.bad, self.reason = tally.bad, tally.reasons[-1] if tally.reasons else ""
                self.version += 1
            if given is None:
                return
            self._memory = None if memory is None else largest(memory)
            posterior, at_rest, novelty = given.followed
            truths = given.frames.labels
            known = KnownLabels(follower.classes)
            for number in range(len(given)):
                truth = None if truths is None else known.place(truths[number])
                told = Told(posterior[number], at_rest[number], float(novelty[number]), None)
                self.version += 1
                column = self._account.add(told, truth)
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
                **self._account.said(),
            }
            return self.version, said, data
