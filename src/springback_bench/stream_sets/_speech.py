"""Sound as speech networks receive it: 16,000 samples per second, spectra every 10 ms, windows of a second."""

import io
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError

RATE_HZ = 16_000
_LONG, _HOP = 400, 160
"""Samples of one spectrum (25 ms), and from one spectrum to the next (10 ms)."""

WINDOW, STEP = 100, 25
"""Spectra that a network receives at a time (1 s), and from one window to the next (0.25 s)."""

Encoder = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""Samples -> features of every window, (T, n)."""


def decoded(content: bytes, *, container: str) -> NDArray[np.float32]:
    """The samples of a sound file with one channel, between -1 and 1.

    Parameters
    ----------
    container : str
        Kind of file as FFmpeg names it: "wav" or "g722".
    """
    import av

    try:
        with av.open(io.BytesIO(content), "r", format=container) as opened:
            frames = list(opened.decode(opened.streams.audio[0]))
    except (av.FFmpegError, IndexError) as error:
        raise DataError(f"a sound file cannot be read: {error}") from error
    layouts = {(frame.sample_rate, frame.layout.nb_channels, frame.format.name) for frame in frames}
    if layouts != {(RATE_HZ, 1, "s16")}:
        raise DataError(f"sound must have one channel of 16-bit samples at {RATE_HZ:,} Hz; got {sorted(layouts)}")
    samples = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    return np.asarray(samples / 32768, np.float32)


def at_level(samples: NDArray[Any], decibel: float = -30.0) -> NDArray[np.float32]:
    """The same sound at another mean level, in decibel of the full scale; -30 is what speech networks were given.

    Examples
    --------
    >>> at_level(np.array([1.0, -1.0]), decibel=-20.0).round(3).tolist()
    [0.10000000149011612, -0.10000000149011612]
    """
    level = 10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12)
    return np.asarray(samples * 10 ** ((decibel - level) / 20), np.float32)


def power_spectra(samples: NDArray[Any], taper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Power of 201 frequencies in every 10 ms, (T, 201); spectrum t is centred at 10 t ms, with silence around."""
    padded = np.pad(samples, _LONG // 2)
    pieces = np.lib.stride_tricks.sliding_window_view(padded, _LONG)[::_HOP]
    return np.abs(np.fft.rfft(pieces * taper, axis=1)) ** 2


def hann() -> NDArray[np.float64]:
    """The periodic Hann window."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_LONG) / _LONG)


def hamming() -> NDArray[np.float64]:
    """The periodic Hamming window."""
    return 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(_LONG) / _LONG)


def slaney_filters(count: int) -> NDArray[np.float64]:
    """Triangles of equal area on the mel scale of Slaney's Auditory Toolbox (1998), (count, 201).

    The scale is linear up to 1,000 Hz (15 mel) and logarithmic above it, with 27 mel for a factor of 6.4. Librosa has
    these filters, too.
    """
    per_hz, knee_hz, log_step = 3 / 200, 1000.0, np.log(6.4) / 27
    knee = knee_hz * per_hz
    mel = np.linspace(0, knee + np.log(RATE_HZ / 2 / knee_hz) / log_step, count + 2)
    edges = np.where(mel < knee, mel / per_hz, knee_hz * np.exp(log_step * (mel - knee)))
    widths = np.diff(edges)
    rising = (_frequencies() - edges[:-2, None]) / widths[:-1, None]
    falling = (edges[2:, None] - _frequencies()) / widths[1:, None]
    heights = 2 / (edges[2:, None] - edges[:-2, None])
    return np.asarray(heights * np.maximum(0, np.minimum(rising, falling)), np.float64)


def symmetric_filters(count: int) -> NDArray[np.float64]:
    """Triangles of height 1 on the mel scale 2595 log10(1 + f / 700), (count, 201).

    Each is symmetric, as wide on both sides as the distance to the filter below it. SpeechBrain has these filters.
    """
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + RATE_HZ / 2 / 700), count + 2) / 2595) - 1)
    distance = np.abs(_frequencies() - edges[1:-1, None]) / np.diff(edges)[:-1, None]
    return np.asarray(np.maximum(0, 1 - distance), np.float64)


def _frequencies() -> NDArray[np.float64]:
    return np.linspace(0, RATE_HZ / 2, _LONG // 2 + 1)


def windows(spectra: NDArray[Any]) -> NDArray[np.float32]:
    """A window of a second in every quarter of a second, (T, 100, n), from spectra (S, n)."""
    found = np.lib.stride_tricks.sliding_window_view(spectra, WINDOW, axis=0)[::STEP]
    return np.ascontiguousarray(found.transpose(0, 2, 1), np.float32)


def newest_sample(count: int) -> NDArray[np.int64]:
    """The sample in the middle of the last quarter of a second of each window; it tells who speaks now, (count,)."""
    ends = (np.arange(count) * STEP + WINDOW) * _HOP
    return ends - STEP * _HOP // 2
