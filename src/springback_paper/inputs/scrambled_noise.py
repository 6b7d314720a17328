"""Noise that looks like digits: real digits, a share of whose pixels are in random order."""

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.records import NOISE_LABEL, Images, Video

_BOX = slice(4, 24)
"""Rows and columns that MNIST digits lie in."""


def scramble(pixels: NDArray[np.uint8], share: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Images (n, 28, 28) with that share of the pixels of their central 20 x 20 box in random order, and no others.

    Parameters
    ----------
    share : float
        0: the images as they are; 1: nothing is left of them but their brightness.

    Examples
    --------
    >>> ramp = np.arange(784, dtype=np.uint16).astype(np.uint8).reshape(1, 28, 28)
    >>> whole, half = (scramble(ramp, share, np.random.default_rng(0)) for share in (0.0, 0.5))
    >>> bool((whole == ramp).all()), bool((np.sort(half, axis=None) == np.sort(ramp, axis=None)).all())
    (True, True)
    """
    check.real("share", share, low=0, high=1)
    made = pixels.copy()
    box = made[:, _BOX, _BOX].reshape(len(made), -1)
    place = np.arange(box.shape[1])
    moved = rng.random(box.shape) < share
    stay = 2.0 + place  # Those that stay come last, in the same order on both sides.
    come_from = np.argsort(np.where(moved, rng.random(box.shape), stay), axis=1)
    go_to = np.argsort(np.where(moved, place / len(place), stay), axis=1)
    mixed = np.empty_like(box)
    np.put_along_axis(mixed, go_to, np.take_along_axis(box, come_from, axis=1), axis=1)
    made[:, _BOX, _BOX] = mixed.reshape(made[:, _BOX, _BOX].shape)
    return made


def with_scrambled_noise(video: Video, digits: Images, *, share: float, seed: int) -> Video:
    """The video with a scrambled digit in place of each noise frame, drawn separately for every frame.

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> white = Images(np.full((1, 28, 28), 255, np.uint8), np.array([4]))
    >>> video = with_scrambled_noise(make_omnist(white), white, share=1.0, seed=0)
    >>> int(video.frames[-1].min()), video.labels[-1]
    (255, np.int64(10))
    """
    check.require(video.frame_shape == (28, 28), "the frames of the video", "be 28 x 28 pixels", video.frame_shape)
    noisy = video.labels == NOISE_LABEL
    number = np.cumsum(noisy) - 1
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(digits), size=int(noisy.sum()))
    noise = scramble(digits.pixels[drawn], share, rng)

    def frames(start: int, stop: int) -> NDArray[np.uint8]:
        made = video.source(start, stop)
        at = np.flatnonzero(noisy[start:stop])
        made[at] = noise[number[start:stop][at]]
        return made

    return Video(
        labels=video.labels,
        rows_hidden=video.rows_hidden,
        ink_hidden=video.ink_hidden,
        digit=video.digit,
        frame_shape=video.frame_shape,
        source=frames,
        name=f"{video.name}, noise of digits scrambled to {share:g}",
    )
