"""Ways in which a picture is corrupted, each from nothing (severity 0) to hardly recognisable (severity 1).

The kinds are those of Hendrycks & Dietterich (2019), in a simple form and with a severity that is not in steps.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float64]
"""Between 0 and 1, (height, width, 3)."""


def corrupted(frame: NDArray[np.uint8], kind: str, severity: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """A picture, uint8 (height, width, 3), corrupted.

    Examples
    --------
    >>> grey = np.full((4, 4, 3), 100, np.uint8)
    >>> corrupted(grey, "brightness", 0.5, np.random.default_rng(0))[0, 0].tolist()
    [164, 164, 164]
    """
    if severity == 0:
        return frame
    found = CORRUPTIONS[kind](frame / 255, severity, rng)
    return np.asarray(np.rint(255 * np.clip(found, 0, 1)), np.uint8)


def _gaussian_noise(picture: Picture, severity: float, rng: np.random.Generator) -> Picture:
    return picture + rng.normal(0, 0.2 * severity, picture.shape)


def _shot_noise(picture: Picture, severity: float, rng: np.random.Generator) -> Picture:
    """Light comes in grains, fewer and fewer of them."""
    grains = 20 / severity**2
    return rng.poisson(picture * grains) / grains


def _impulse_noise(picture: Picture, severity: float, rng: np.random.Generator) -> Picture:
    """Single values become black or full."""
    chance = rng.random(picture.shape)
    return np.where(chance < 0.2 * severity, np.rint(5 * chance / severity), picture)


def _defocus(picture: Picture, severity: float, _: np.random.Generator) -> Picture:
    from scipy.ndimage import gaussian_filter

    width = 0.3 + 1.2 * severity  # narrower than 0.3 pixels is nothing
    return np.asarray(gaussian_filter(picture, (width, width, 0), mode="nearest"), np.float64)


def _motion(picture: Picture, severity: float, rng: np.random.Generator) -> Picture:
    """Blurred along rows or columns; widths between two whole numbers are mixtures."""
    from scipy.ndimage import uniform_filter1d

    axis, width = int(rng.integers(2)), 1 + 8 * severity
    below = int(width)
    narrow, wide = (uniform_filter1d(picture, size, axis=axis, mode="nearest") for size in (below, below + 1))
    return np.asarray(narrow + (width - below) * (wide - narrow))


def _contrast(picture: Picture, severity: float, _: np.random.Generator) -> Picture:
    mean = picture.mean(axis=(0, 1))
    return np.asarray(mean + (1 - 0.9 * severity) * (picture - mean))


def _brightness(picture: Picture, severity: float, _: np.random.Generator) -> Picture:
    return picture + 0.5 * severity


def _fog(picture: Picture, severity: float, rng: np.random.Generator) -> Picture:
    """Clouds of a random shape cover the picture."""
    from scipy.ndimage import zoom

    height, width = picture.shape[:2]
    coarse = rng.random((4, 4))
    clouds = zoom(coarse, (height / 4, width / 4), order=1)[:height, :width, None]
    thickness = severity * (0.6 + 0.3 * clouds)
    return np.asarray(picture + thickness * (0.9 - picture))


def _pixelate(picture: Picture, severity: float, _: np.random.Generator) -> Picture:
    """Mean values of larger and larger squares; sizes between two whole numbers are mixtures."""
    size = 1 + 4 * severity
    below = int(size)
    fine, coarse = (_squares(picture, one) for one in (below, below + 1))
    return np.asarray(fine + (size - below) * (coarse - fine))


def _squares(picture: Picture, size: int) -> Picture:
    rows, columns = (_same_square(length, size) for length in picture.shape[:2])
    return (rows @ picture.transpose(2, 0, 1) @ columns.T).transpose(1, 2, 0)


def _same_square(length: int, size: int) -> NDArray[np.float64]:
    """The matrix that replaces each of `length` values by the mean of its square."""
    square = np.arange(length) // size
    same = (square[:, None] == square).astype(np.float64)
    return np.asarray(same / same.sum(axis=1, keepdims=True))


CORRUPTIONS: dict[str, Callable[[Picture, float, np.random.Generator], Picture]] = {
    "gaussian noise": _gaussian_noise,
    "shot noise": _shot_noise,
    "impulse noise": _impulse_noise,
    "defocus": _defocus,
    "motion": _motion,
    "contrast": _contrast,
    "brightness": _brightness,
    "fog": _fog,
    "pixelate": _pixelate,
}
"""Every kind by name: (picture, severity, source of random numbers) -> the corrupted picture."""
