"""Windows of sound from a file or a microphone (extra: audio)."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.extras import require_extra
from springback.files.regular import open_regular
from springback.live.frames import NOTHING, Frames, Signal
from springback.live.sources.source import PATIENCE_S, Source, SourceKind, SourceOptions

MICROPHONE = "microphone"
_LARGEST = 2**46
_LONGEST_WINDOW_S = 600.0
_USUAL_RATE_HZ = 16_000


class SampleReader(Protocol):
    """Something that gives samples: a file or a microphone."""

    rate_hz: int

    def samples(self, count: int) -> NDArray[np.float32] | None:
        """Up to `count` samples of one channel; none: nothing yet; None: the end."""

    def close(self) -> None:
        """Release it."""


class SoundSource(Source):
    """Windows of `window_s`, every `hop_s`; the time of a window is that of its end.

    Samples at the end that do not fill a window are left out.

    Parameters
    ----------
    recorder : SampleReader
        Where the samples come from.
    options : SourceOptions
        Their `window_s` and `hop_s` are used.
    live : bool
        Whether it is a microphone.
    """

    def __init__(self, recorder: SampleReader, options: SourceOptions, *, live: bool) -> None:
        if options.window_s is None:
            recorder.close()
            raise DataError("sound is followed in windows: give their length in seconds, such as 1.0")
        self.live, self.recorded = live, not live
        window_s = check.real("window_s", options.window_s, above=0, high=_LONGEST_WINDOW_S)
        hop_s = window_s if options.hop_s is None else check.real("hop_s", options.hop_s, above=0, high=window_s)
        self._recorder, self._rate = recorder, recorder.rate_hz
        self._window, self._hop = (max(1, round(one * self._rate)) for one in (window_s, hop_s))
        self.signal = Signal(kind="sound", shape=(self._window,), rate_hz=float(self._rate))
        self._held = np.zeros(0, np.float32)
        self._begin = 0

    def read(self) -> Frames | None:
        """The windows that the next samples complete."""
        missing = self._window - len(self._held)
        piece = self._recorder.samples(max(missing, 1))
        self.lost = getattr(self._recorder, "lost", 0)
        if piece is None:
            return None
        self._held = np.concatenate([self._held, piece])
        if len(self._held) < self._window:
            return NOTHING
        found = self._held[: self._window][None].copy()
        end_s = round((self._begin + self._window) / self._rate, 6)
        self._held = self._held[self._hop :]
        self._begin += self._hop
        return Frames(values=found, seconds=np.array([end_s]), stamps=[end_s])

    def close(self) -> None:
        """Release the file or the microphone."""
        self._recorder.close()


class SoundFile:
    """A sound file; several channels become their mean."""

    def __init__(self, path: Path, wanted_hz: int | None) -> None:
        import soundfile

        open_regular(path, largest=_LARGEST).close()
        try:
            self._file = soundfile.SoundFile(path)
        except (soundfile.SoundFileError, OSError) as error:
            raise DataError(f"{path} cannot be read as sound: {error}") from error
        self._path, self._failure = path, soundfile.SoundFileError
        self.rate_hz = int(self._file.samplerate)
        if wanted_hz is not None and self.rate_hz != wanted_hz:
            self._file.close()
            raise DataError(
                f"{path} has {self.rate_hz:,} samples per second, and {wanted_hz:,} are wanted: convert it, such as "
                f"with `ffmpeg -i {path.name} -ar {wanted_hz} converted.wav`"
            )

    def samples(self, count: int) -> NDArray[np.float32] | None:
        """The next samples."""
        try:
            found = self._file.read(count, dtype="float32", always_2d=True)
        except self._failure as error:
            raise DataError(f"{self._path} is damaged: {error}") from error
        return np.asarray(found.mean(axis=1, dtype=np.float32)) if len(found) else None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Microphone:
    """A sound device; samples that nobody takes in time are lost, and counted."""

    def __init__(self, device: str, rate_hz: int) -> None:
        try:
            import sounddevice
        except OSError as error:  # the library PortAudio is missing
            raise DataError(
                f"no microphone can be opened: {error}; install PortAudio (Debian: apt install libportaudio2)"
            ) from error
        self.rate_hz, self.lost = rate_hz, 0
        chosen: Any = int(device) if device.isdecimal() else device or None
        try:
            self._stream = sounddevice.InputStream(device=chosen, samplerate=rate_hz, channels=1, dtype="float32")
            self._stream.start()
        except (sounddevice.PortAudioError, ValueError) as error:
            raise DataError(f"the microphone cannot be opened at {rate_hz:,} Hz: {error}") from error

    def samples(self, count: int) -> NDArray[np.float32] | None:
        """The next samples, after at most `PATIENCE_S`."""
        found, overflowed = self._stream.read(min(count, max(1, int(PATIENCE_S * self.rate_hz))))
        self.lost += bool(overflowed)
        return np.asarray(found[:, 0], np.float32)

    def close(self) -> None:
        """Release the device."""
        self._stream.close()


def open_sound(address: str, options: SourceOptions) -> SoundSource:
    """A sound file, or "microphone" or "microphone:DEVICE"."""
    scheme, _, device = address.partition(":")
    if scheme == MICROPHONE:
        require_extra("a microphone", "sounddevice")
        return SoundSource(Microphone(device, options.rate_hz or _USUAL_RATE_HZ), options, live=True)
    require_extra("a sound file", "soundfile")
    return SoundSource(SoundFile(Path(address), options.rate_hz), options, live=False)


SOURCE = SourceKind(
    name="sound file or microphone",
    addresses="microphone, microphone:DEVICE",
    schemes=(MICROPHONE,),
    suffixes=(".wav", ".flac", ".ogg", ".mp3", ".aiff", ".aif"),
    open=open_sound,
)
