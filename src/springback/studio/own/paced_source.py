"""A source whose frames come one at a time and at a pace; a live one gives them as they come."""

from collections.abc import Callable

from springback.live.frames import Bad, Frames
from springback.live.sources.source import Source
from springback.studio.own.pace import Pace


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
