"""A recorded source that is played at a pace says of bad frames only when their turn comes."""

import numpy as np

from springback.live.frames import Bad, Frames, Signal
from springback.live.sources.source import Source
from springback_studio.own_stream.feed import PacedSource, Playback


class WholeFile(Source):
    """Three rows with a bad line after the first and one after the last, all in one piece."""

    def __init__(self):
        self.signal, self.live, self.recorded = Signal(kind="rows"), False, True
        self._pieces = [Frames(values=np.arange(6.0).reshape(3, 2), bad=(Bad(1, "line 3"), Bad(3, "line 6")))]

    def read(self):
        return self._pieces.pop() if self._pieces else None

    def close(self):
        pass


def test_bad_frames_are_counted_as_they_come_and_not_those_of_the_whole_file():
    source = PacedSource(WholeFile(), Playback(1000), lambda: False)
    played = []
    while (frames := source.read()) is not None:
        played.append((len(frames), [bad.why for bad in frames.bad]))
    assert played == [(1, []), (1, ["line 3"]), (1, []), (0, ["line 6"])]
