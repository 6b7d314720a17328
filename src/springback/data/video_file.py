"""Videos on disk: written in chunks, verified once, and read back in chunks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.container import read, write
from springback.files.records import LargeArray
from springback.streaming.records import NOISE_LABEL, Video

LARGEST_VIDEO = 2**34
"""Size limit in bytes: 20 million frames of 28 x 28 pixels."""


@dataclass(frozen=True, eq=False)
class SavedVideo:
    """A video, whose frames (n, height, width) stay on disk."""

    name: str
    frames: LargeArray
    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    ink_hidden: NDArray[np.float32]
    digit: NDArray[np.int64]


def save_video(video: Video, path: Path, *, on_frames: Callable[[int], None] = lambda _: None) -> None:
    """Write a video as safetensors in constant memory; `on_frames` receives the number of frames just written."""

    def rows(start: int, stop: int) -> NDArray[np.uint8]:
        on_frames(stop - start)
        return video.source(start, stop)

    frames = LargeArray("uint8", (len(video), *video.frame_shape), rows)
    tracks = (video.labels, video.rows_hidden, video.ink_hidden, video.digit)
    write(path, "video", SavedVideo(video.name, frames, *tracks))


def load_video(path: Path) -> Video:
    """Load and check a video; its frames stay on disk until they are needed."""
    return read(path, "video", SavedVideo, _checked, largest=LARGEST_VIDEO)


def _checked(saved: SavedVideo) -> Video:
    shape = saved.frames.shape
    check.require(saved.frames.dtype == "uint8", "frames", "have dtype uint8", saved.frames.dtype)
    fits = len(shape) == 3 and all(1 <= side <= 2**12 for side in shape[1:])
    check.require(fits, "frames", "have shape (frames, height, width) with sides of 1 ... 4096 pixels", shape)
    check.require(len(saved.labels) == shape[0], "labels", "have one entry for each frame", saved.labels.shape)
    video = Video(
        labels=saved.labels,
        rows_hidden=saved.rows_hidden,
        ink_hidden=saved.ink_hidden,
        digit=saved.digit,
        frame_shape=(shape[1], shape[2]),
        source=saved.frames.rows,
        name=check.line("name", saved.name),
    )
    _check_tracks(video)
    return video


def _check_tracks(video: Video) -> None:
    """Refuse impossible values: a class beyond noise, more hidden rows than there are, more than all ink hidden."""
    longest = max(video.frame_shape)
    ink = np.nan_to_num(video.ink_hidden, nan=0.0)
    for name, values, low, high in (
        ("labels", video.labels, 0, NOISE_LABEL),
        ("rows_hidden", video.rows_hidden, -1, longest),
        ("ink_hidden", ink, 0, 1),
        ("digit", video.digit, -1, 2**62),
    ):
        inside = bool(((values >= low) & (values <= high)).all())
        check.require(inside, name, f"lie in {low} ... {high}", (values.min(), values.max()) if len(values) else "none")
