"""A window of sound as a row of numbers, without any network: how loud each band of frequencies is."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from springback import check

RATE_HZ = 16_000
WINDOW, HOP = 6_400, 1_600
"""Samples in a window, 0.4 s, and samples from one to the next, 0.1 s."""

N_SOUND_FEATURES = 64
_PART = 1_024
_LOWEST_HZ, _HIGHEST_HZ = 80.0, 7_600.0
_SILENCE = 1e-6
"""Mean power of a band, with samples between -1 and 1, below which it counts as silent."""

_QUIET = 8.0
"""Length of a row before scaling below which a sound is quiet."""


def sound_features(samples: NDArray[np.int16]) -> NDArray[np.float32]:
    """The features (64,) of a window (6400,) of samples at 16 kHz.

    Each is ln(1 + power / silence) of a band; the bands are equally wide on a logarithmic scale of frequency. The row
    is scaled to length one, so that the same sound may be louder or softer, but a quiet one stays short: silence is
    zero.

    Examples
    --------
    >>> time = np.arange(WINDOW) / RATE_HZ
    >>> low, high = ((8000 * np.sin(2 * np.pi * hertz * time)).astype(np.int16) for hertz in (200, 2000))
    >>> sound_features(low).argmax() < sound_features(high).argmax()
    np.True_
    """
    check.array("samples", samples, shape=(WINDOW,), dtype=np.int16)
    sound = samples.astype(np.float32) / 2**15
    parts = np.lib.stride_tricks.sliding_window_view(sound, _PART)[:: _PART // 2]
    power = np.abs(np.fft.rfft(parts * np.hanning(_PART), axis=1)) ** 2 / _PART
    bands = _bands() @ power.mean(axis=0)
    loudness = np.log1p(bands / _SILENCE)
    return np.asarray(loudness / max(float(np.linalg.norm(loudness)), _QUIET), np.float32)


@lru_cache(maxsize=1)
def _bands() -> NDArray[np.float64]:
    """How much of each frequency belongs to each band, (64, 513); rows sum to one."""
    centres = np.geomspace(_LOWEST_HZ, _HIGHEST_HZ, N_SOUND_FEATURES)
    frequencies = np.fft.rfftfreq(_PART, 1 / RATE_HZ)
    width = np.maximum(centres * (centres[1] / centres[0] - 1), frequencies[1])
    weights = np.maximum(0.0, 1 - np.abs(frequencies - centres[:, None]) / width[:, None])
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
