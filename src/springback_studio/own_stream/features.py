"""A picture or a window of sound as a row of numbers, without any network."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

PICTURE_SHAPE = (72, 96, 3)
"""Height, width and channels (red, green, blue) of a picture from the browser."""

_CELL, _BLOCK, _DIRECTIONS = 8, 12, 8
_COLOUR = 2.0
_FAINT = 0.02
N_PICTURE_FEATURES = (72 // _CELL) * (96 // _CELL) * _DIRECTIONS + (72 // _BLOCK) * (96 // _BLOCK) * 3


def picture_features(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The features (1008,) of a picture (72, 96, 3).

    864 numbers say how strong edges of eight directions are in each of 9 x 12 cells, relative to the strength around
    the cell, so that more or less light changes little. 144 numbers are the brightness and the two colour differences
    of 6 x 8 blocks.

    Examples
    --------
    >>> picture_features(np.zeros((72, 96, 3), np.uint8)).shape
    (1008,)
    """
    check.array("picture", picture, shape=PICTURE_SHAPE, dtype=np.uint8)
    colours = picture.astype(np.float32) / np.float32(255)
    edges = _edges(np.sqrt(colours.mean(axis=2)))
    return np.concatenate([edges, _COLOUR * _colours(colours)])


def _edges(grey: NDArray[Any]) -> NDArray[np.float32]:
    down, across = np.gradient(grey)
    strength = np.hypot(down, across)
    place = (np.arctan2(down, across) % np.pi) * (_DIRECTIONS / np.pi)
    first = np.floor(place).astype(np.int64)
    share = (place - first).astype(np.float32)
    rows, columns = (side // _CELL for side in grey.shape)
    cell = (np.arange(grey.shape[0]) // _CELL)[:, None] * columns + np.arange(grey.shape[1]) // _CELL
    found = np.zeros(rows * columns * _DIRECTIONS)
    for direction, weight in ((first, strength * (1 - share)), (first + 1, strength * share)):
        bins = cell * _DIRECTIONS + direction % _DIRECTIONS
        found += np.bincount(bins.ravel(), weights=weight.ravel(), minlength=len(found))
    cells = found.reshape(rows, columns, _DIRECTIONS) / _CELL**2
    energy = (cells**2).sum(axis=2)
    around = np.pad(energy, 1, mode="edge")
    near = sum(around[i : i + rows, j : j + columns] for i in range(3) for j in range(3)) / 9
    cells = np.sqrt(cells / np.sqrt(near + _FAINT**2)[:, :, None])
    return np.asarray(cells.ravel() / np.sqrt(rows * columns), np.float32)


def _colours(colours: NDArray[Any]) -> NDArray[np.float32]:
    rows, columns = (side // _BLOCK for side in colours.shape[:2])
    blocks = colours.reshape(rows, _BLOCK, columns, _BLOCK, 3).mean(axis=(1, 3))
    red, green, blue = np.moveaxis(blocks, 2, 0)
    parts = np.stack([blocks.mean(axis=2) / 2, red - green, (red + green) / 2 - blue], axis=2)
    return np.asarray(parts.ravel() / np.sqrt(rows * columns), np.float32)


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
