"""Pictures of a video file or of a camera (extra: video)."""

import sys
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from springback.check import DataError
from springback.extras import require_extra
from springback.files.regular import open_regular
from springback.live.frames import NOTHING, Bad, Frames, Signal, no_frames
from springback.live.sources.source import Source, SourceKind, SourceOptions

CAMERA = "camera"
_LARGEST = 2**46
_FORMATS = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}"), "win32": ("dshow", "video={}")}
"""How FFmpeg reaches cameras on each system."""


_CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,ogg,gif"
"""FFmpeg's names of the formats that are read; others, such as playlists, could name further files to open."""

_MOST_FAILURES = 100
"""How often in a row the file may refuse to be read on before it counts as ended."""


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
        self._container, self._name, self._every = container, name, every
        self.live, self.recorded = live, not live
        if not container.streams.video:
            raise DataError(f"{name} has no pictures")
        stream = container.streams.video[0]
        rate = stream.average_rate
        self.signal = Signal(
            kind="pictures",
            shape=(stream.codec_context.height, stream.codec_context.width, 3),
            rate_hz=float(rate) if rate else None,
        )
        self._stream, self._packets = stream, container.demux(stream)
        self._pictures: deque[Any] = deque()
        self._number, self._packet, self._failures = -1, -1, 0
        self._first_s: float | None = None

    def read(self) -> Frames | None:
        """The next picture, with its time in seconds since the beginning; a damaged packet is bad."""
        if not self._pictures:
            try:
                packet = next(self._packets, None)
            except BlockingIOError:
                self._packets = self._container.demux(self._stream)
                return NOTHING
            except self._failure as error:
                return self._unreadable(error)
            if packet is None:
                return None
            self._packet += 1
            try:
                self._pictures.extend(packet.decode())
            except self._failure as error:
                return no_frames(Bad(0, f"packet {self._packet} cannot be decoded: {_words(error)}"))
            self._failures = 0
        return self._frames_of(self._pictures.popleft()) if self._pictures else NOTHING

    def _unreadable(self, error: Exception) -> Frames:
        """A part of the file that no packet can be read from; the reader continues after it, but not forever."""
        self._failures += 1
        if self.live or self._failures > _MOST_FAILURES:
            raise DataError(f"{self._name} gives no more pictures: {_words(error)}") from error
        self._packets = self._container.demux(self._stream)
        return no_frames(Bad(0, f"what follows packet {self._packet} cannot be read: {_words(error)}"))

    def _frames_of(self, picture: Any) -> Frames:
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
    place = f"file:{Path(address).absolute()}"  # FFmpeg takes other words before a colon for protocols
    allowed = {"format_whitelist": _CONTAINERS, "protocol_whitelist": "file"}
    try:
        return VideoSource(av.open(place, "r", options=allowed), address, every=options.every, live=False)
    except av.FFmpegError as error:
        raise DataError(
            f"{address} cannot be read as a video in an MP4, Matroska, WebM, AVI, MPEG, Ogg or GIF file: "
            f"{_words(error)}"
        ) from error


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split())


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
