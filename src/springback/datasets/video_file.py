"""Videos on disk: written piece by piece, read back piece by piece."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.records import Video
from springback.storage import StreamedTensor, open_tensors, save_tensors

_TRACKS = {"labels": np.int64, "rows_hidden": np.int16, "ink_hidden": np.float32, "digit": np.int64}


def save_video(video: Video, path: Path, *, on_frames: Callable[[int], None] = lambda _: None) -> None:
    """Write a video as safetensors in flat memory; `on_frames` receives the number of frames just written."""

    def pieces() -> Iterator[NDArray[np.uint8]]:
        for chunk in video.chunks():
            yield chunk.frames
            on_frames(len(chunk))

    frames = StreamedTensor("uint8", (len(video), *video.frame_shape), pieces())
    tracks = {name: getattr(video, name) for name in _TRACKS}
    save_tensors(path, {"frames": frames, **tracks}, kind="video", metadata={"name": video.name})


def load_video(path: Path) -> Video:
    """A video from its file, checked; its frames stay on disk until asked for."""
    with open_tensors(path, kind="video") as file:
        if set(file.keys()) != {"frames", *_TRACKS}:
            raise DataError(f"{path} must hold frames, {', '.join(_TRACKS)}; it holds {', '.join(sorted(file.keys()))}")
        shape = file.get_slice("frames").get_shape()
        tracks = {name: file.get_tensor(name) for name in _TRACKS}
        name = file.metadata().get("name", "unnamed")
        kind = file.get_slice("frames").get_dtype()
    if kind != "U8" or len(shape) != 3 or shape[0] != len(tracks["labels"]):
        raise DataError(
            f"{path} must hold uint8 frames of shape (frames, height, width), one label for each; got {shape}"
        )

    def read(start: int, stop: int) -> NDArray[np.uint8]:
        with open_tensors(path, kind="video") as again:
            frames: NDArray[np.uint8] = again.get_slice("frames")[start:stop]
        return frames

    try:
        return Video(**tracks, frame_shape=(shape[1], shape[2]), source=read, name=name)
    except ValueError as error:
        raise DataError(f"{path} is not a valid video: {error}") from error
