"""Pictures of a video file or of a camera (extra: video)."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from springback.check import DataError
from springback.extras import require_extra
from springback.live.frames import NOTHING, Frames, Signal
from springback.live.sources.source import Source, SourceKind, SourceOptions
from springback.outside import open_regular

CAMERA = "camera"
_LARGEST = 2**46
_FORMATS = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}"), "win32": ("dshow", "video={}")}
"""How FFmpeg reaches cameras on each system."""


class VideoSource(Source):
    """The pictures of a video stream, one at a time, red, green and blue.

    Parameters
    ----------
    container : Any
        What PyAV has opened.
    name : str
        For messages.
    every : int
        Use only every N-th picture.
    live : bool
        Whether it is a camera: its pictures count from the first one.
    """

    def __init__(self, container: Any, name: str, *, every: int, live: bool) -> None:
        import av

        self._failure = av.FFmpegError
        self._container, self._name, self._every, self.live = container, name, every, live
        if not container.streams.video:
            raise DataError(f"{name} has no pictures")
        stream = container.streams.video[0]
        rate = stream.average_rate
        self.signal = Signal(
            kind="pictures",
            shape=(stream.codec_context.height, stream.codec_context.width, 3),
            rate_hz=float(rate) if rate else None,
        )
        self._pictures = container.decode(stream)
        self._number = -1
        self._first_s: float | None = None

    def read(self) -> Frames | None:
        """The next picture, with its time in seconds since the beginning."""
        try:
            picture = next(self._pictures, None)
        except BlockingIOError:
            return NOTHING
        except self._failure as error:
            if self.live:
                raise DataError(f"{self._name} gives no more pictures: {error}") from error
            return Frames(values=NOTHING.values, bad=(f"picture {self._number + 1} cannot be decoded: {error}",))
        if picture is None:
            return None
        self._number += 1
        if self._number % self._every:
            return NOTHING
        rate = self.signal.rate_hz
        told = picture.time if picture.time is not None else self._number / rate if rate else float(self._number)
        self._first_s = float(told) if self._first_s is None else self._first_s
        seconds = round(float(told) - (self._first_s if self.live else 0.0), 6)
        pixels = picture.to_ndarray(format="rgb24")
        return Frames(values=pixels[None], seconds=np.array([seconds]), stamps=[seconds])

    def close(self) -> None:
        """Close the file or release the camera."""
        self._container.close()


def open_video(address: str, options: SourceOptions) -> VideoSource:
    """A video file, or "camera" or "camera:DEVICE"."""
    require_extra("a video", "av")
    import av

    scheme, _, device = address.partition(":")
    if scheme == CAMERA:
        return _open_camera(device, options)
    open_regular(Path(address), largest=_LARGEST).close()
    try:
        return VideoSource(av.open(address, "r"), address, every=options.every, live=False)
    except av.FFmpegError as error:
        raise DataError(f"{address} cannot be read as a video: {error}") from error


def _open_camera(device: str, options: SourceOptions) -> VideoSource:
    import av

    how, pattern = _FORMATS.get(sys.platform, _FORMATS["linux"])
    place = pattern.format(device or "0") if not device.startswith("/") else device
    try:
        container = av.open(place, "r", format=how)
    except (av.FFmpegError, ValueError) as error:
        raise DataError(f"the camera {place} cannot be opened: {error}; name another as camera:DEVICE") from error
    return VideoSource(container, f"the camera {place}", every=options.every, live=True)


SOURCE = SourceKind(
    name="video or camera",
    addresses="camera, camera:DEVICE",
    schemes=(CAMERA,),
    suffixes=(".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".mpg", ".mpeg", ".ogv", ".gif"),
    open=open_video,
)
