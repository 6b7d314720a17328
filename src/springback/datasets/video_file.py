"""Videos on disk: written in chunks, verified once, and read back in chunks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.records import NOISE_LABEL, Video
from springback.storage import StreamedTensor, TensorFile, open_tensors, save_tensors

LARGEST_VIDEO = 2**34
"""Size limit in bytes: 20 million frames of 28 x 28 pixels."""

_KIND = "video"
_TRACKS = {"labels": "int64", "rows_hidden": "int16", "ink_hidden": "float32", "digit": "int64"}


def save_video(video: Video, path: Path, *, on_frames: Callable[[int], None] = lambda _: None) -> None:
    """Write a video as safetensors in constant memory; `on_frames` receives the number of frames just written."""

    def chunks() -> Iterator[NDArray[np.uint8]]:
        for chunk in video.chunks():
            yield chunk.frames
            on_frames(len(chunk))

    frames = StreamedTensor("uint8", (len(video), *video.frame_shape), chunks())
    tracks = {name: getattr(video, name) for name in _TRACKS}
    save_tensors(path, {"frames": frames, **tracks}, kind=_KIND, metadata={"name": video.name})


def load_video(path: Path) -> Video:
    """Load and check a video; its frames stay on disk until they are needed."""
    try:
        with open_tensors(path, kind=_KIND, largest=LARGEST_VIDEO) as file:
            identity = file.identity
            shape = _shape(file)
            tracks = {name: file.tensor(name) for name in _TRACKS}
            name = check.line("name", file.metadata.get("name"))

        def read(start: int, stop: int) -> NDArray[np.uint8]:
            with open_tensors(path, kind=_KIND, largest=LARGEST_VIDEO, verified=identity) as again:
                return again.rows("frames", start, stop)

        video = Video(**tracks, frame_shape=shape[1:], source=read, name=name)
        _check_tracks(video)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} is not a valid video: {error}") from error
    return video


def _shape(file: TensorFile) -> tuple[int, int, int]:
    """(frames, height, width), if the file holds frames and tracks of the right dtypes and of one length."""
    wanted = {"frames": "uint8", **_TRACKS}
    check.require(set(file.names) == set(wanted), "the file", f"hold {', '.join(wanted)}", sorted(file.names))
    for name, dtype in wanted.items():
        check.require(file.dtype(name) == dtype, name, f"have dtype {dtype}", file.dtype(name))
    shape = file.shape("frames")
    fits = len(shape) == 3 and all(1 <= side <= 2**12 for side in shape[1:])
    check.require(fits, "frames", "have shape (frames, height, width) with sides of 1 ... 4096 pixels", shape)
    for name in _TRACKS:
        check.require(file.shape(name) == shape[:1], name, "have one entry for each frame", file.shape(name))
    return shape[0], shape[1], shape[2]


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
