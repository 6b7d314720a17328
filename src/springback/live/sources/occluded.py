"""Videos whose contents are known: occluded digits or clothing, a file of one, and your own frames in an NPZ file."""

from pathlib import Path

import numpy as np

from springback import check
from springback.check import DataError
from springback.data import load_fashion_mnist, load_mnist, make_omnist
from springback.data.own_file import load_frames_file
from springback.data.video_file import load_video
from springback.live.frames import Frames, Signal
from springback.live.sources.source import Source, SourceKind, SourceOptions
from springback.streaming.records import NOISE_LABEL, Video

_AT_ONCE = 1000
_SETS = {"omnist": load_mnist, "fashion-mnist": load_fashion_mnist}


class OccludedSource(Source):
    """The frames of a `Video` with their labels; correct answers are also counted by how many rows are hidden.

    Parameters
    ----------
    video : Video
        Its frames are made when they are needed.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits
    >>> source = OccludedSource(make_omnist(shipped_digits()[:2], seed=0))
    >>> "noise" in source.read().groups
    True
    """

    recorded = True

    def __init__(self, video: Video) -> None:
        self.signal = Signal(kind="rows", shape=video.frame_shape)
        self.title = f"{video.name}: {len(video):,} frames"
        self._video, self._at = video, 0

    def read(self) -> Frames | None:
        """The next frames."""
        if self._at >= len(self._video):
            return None
        part = self._video.stretch(self._at, min(self._at + _AT_ONCE, len(self._video)))
        self._at += len(part)
        hidden = np.where(part.labels == NOISE_LABEL, "noise", part.rows_hidden.astype(str))
        return Frames(values=part.frames, labels=part.labels.tolist(), groups=hidden.tolist())

    def skip(self, count: int) -> int:
        """Pass over frames without making them."""
        passed = max(0, min(count, len(self._video) - self._at))
        self._at += passed
        return passed


class OwnFrames(Source):
    """Frames of an NPZ file, in the order of time, and their labels, if there are any."""

    recorded = True

    def __init__(self, path: Path) -> None:
        frames, labels = load_frames_file(path)
        self.signal = Signal(kind="rows", shape=frames.shape[1:])
        self._left: Frames | None = Frames(values=frames, labels=None if labels is None else labels.tolist())

    def read(self) -> Frames | None:
        """All frames at once."""
        found, self._left = self._left, None
        return found


def open_occluded(address: str, options: SourceOptions) -> Source:
    """`omnist` or `fashion-mnist`, perhaps with a number of images (`omnist:500`), or an NPZ file."""
    name, _, limit = address.partition(":")
    if name not in _SETS:
        return OwnFrames(Path(address))
    if limit and not (limit.isdecimal() and int(limit) > 0):
        raise DataError(f"{name} may be followed by a number of images, such as {name}:500; got {check.shown(address)}")
    images = _SETS[name]("test", data_home=options.data_home, report=options.on_event)
    return OccludedSource(make_omnist(images[: int(limit) if limit else None], seed=options.seed))


def open_video_file(path: Path) -> OccludedSource:
    """A file that `springback data omnist` wrote."""
    return OccludedSource(load_video(path))


SOURCE = SourceKind(
    name="occluded video",
    addresses="omnist, omnist:500 (500 images), fashion-mnist, frames.npz",
    schemes=tuple(_SETS),
    suffixes=(".npz",),
    open=open_occluded,
)
