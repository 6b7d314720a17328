"""The input of the models, frame by frame: an endless OMNIST, or one picture under an occluder, and noise."""

from typing import NamedTuple

import numpy as np

from springback.data import NoiseObject, make_omnist, noise_frames
from springback.data.pretrained import DIGITS_PER_CLASS, shipped_digits
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.studio.pair import Frame
from springback.studio.view import View

NOISE_FRAMES = NoiseObject().n_frames
_SHAPE = (28, 28)


class Shown(NamedTuple):
    """One frame: `pixels` uint8 (28, 28), what it shows (10: noise, None: unknown), and the number of hidden rows."""

    pixels: Frame
    label: int | None
    rows_hidden: int


class Input:
    """The frames of a view, one after the other; the same view gives the same frames."""

    def __init__(self, view: View) -> None:
        self._seed = view.seed
        self.restart()

    def restart(self) -> None:
        """Return to the first frame."""
        self._place, self._noise_left, self._noise_drawn = 0, 0, 0
        self._round = -1
        self._video: Video | None = None

    def throw_noise(self) -> None:
        """Make the next four frames noise; then the picture or the stream continues."""
        self._noise_left = NOISE_FRAMES

    def next(self, view: View) -> Shown:
        """The next frame."""
        if self._noise_left > 0:
            self._noise_left -= 1
            self._noise_drawn += 1
            noise = noise_frames(1, seed=self._seed * 1_000_003 + self._noise_drawn, shape=_SHAPE)
            return Shown(noise[0], NOISE_LABEL, -1)
        if view.source == "stream":
            return self._of_stream()
        return still(view)

    def _of_stream(self) -> Shown:
        if self._video is None or self._place == len(self._video):
            self._round, self._place = self._round + 1, 0
            self._video = stream_round(self._seed, self._round)
        at = self._place
        self._place += 1
        label, hidden = int(self._video.labels[at]), int(self._video.rows_hidden[at])
        return Shown(self._video.source(at, at + 1)[0], label, hidden)


def still(view: View) -> Shown:
    """The picture of a view under its occluder.

    Examples
    --------
    >>> still(View(source="digit", digit=3, occlude=28)).pixels.sum()
    np.uint64(0)
    """
    if view.source == "drawing" and view.drawing is not None:
        pixels, label = view.drawing.copy(), None
    else:
        pixels, label = shipped_digits().pixels[DIGITS_PER_CLASS * view.digit + view.example].copy(), view.digit
    pixels[: view.occlude] = 0
    return Shown(pixels, label, view.occlude)


def stream_round(seed: int, number: int) -> Video:
    """The OMNIST video of all shipped digits in random order; each round has its own order and noise.

    Examples
    --------
    >>> len(np.unique(stream_round(0, 0).digit))
    101
    """
    digits = shipped_digits()
    order = np.random.default_rng([seed, number]).permutation(len(digits))
    return make_omnist(Images(digits.pixels[order], digits.labels[order]), seed=seed * 1009 + number)
