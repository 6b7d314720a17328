"""What both models are shown, frame by frame: the stream, a digit or a drawing, with noise thrown in."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.data import NoiseObject, make_omnist, noise_frames
from springback.data.pretrained import DIGITS_PER_CLASS, shipped_digits
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_studio.pair import Frame
from springback_studio.view import View

PAD_SIDE = 112
"""Height and width of a drawing in pixels."""

_SIDE, _BOX = 28, 20


def fitted(drawing: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A drawing (112, 112), 0 for paper and 255 for ink, as a frame (28, 28).

    Examples
    --------
    >>> stroke = np.zeros((112, 112), np.uint8)
    >>> stroke[10:90, 60:64] = 255
    >>> rows = np.flatnonzero(fitted(stroke).any(axis=1))
    >>> int(rows[0]), int(rows[-1])
    (4, 23)
    """
    check.array("drawing", drawing, shape=(PAD_SIDE, PAD_SIDE), dtype=np.uint8)
    ink = drawing.astype(np.float64)
    if not ink.any():
        return np.zeros((_SIDE, _SIDE), np.uint8)
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    shape = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = _BOX / max(shape.shape)
    small = _resized(_resized(shape, scale).T, scale).T
    top, left = (_start(small.sum(axis=other), len(small) if other else small.shape[1]) for other in (1, 0))
    frame = np.zeros((_SIDE, _SIDE))
    frame[top : top + small.shape[0], left : left + small.shape[1]] = small
    brightest = frame.max()
    return np.asarray(np.rint(frame * (255 / brightest)), np.uint8)


def _resized(rows: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Rows averaged over area: row i of the result covers `i / scale ... (i + 1) / scale` of those given."""
    n = max(round(len(rows) * scale), 1)
    edges = np.linspace(0, len(rows), n + 1)
    total = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    below = np.minimum(edges.astype(int), len(rows) - 1)
    at_edges = total[below] + (edges - below)[:, None] * rows[below]
    return np.asarray(np.diff(at_edges, axis=0) / np.diff(edges)[:, None])


def _start(mass: NDArray[np.float64], length: int) -> int:
    """Where a shape must begin to have its centre of mass in the middle of the frame, as far as it stays inside."""
    centre = float((np.arange(length) + 0.5) @ mass / mass.sum())
    return int(np.clip(round(_SIDE / 2 - centre), 0, _SIDE - length))


NOISE_FRAMES = NoiseObject().n_frames
_SHAPE = (28, 28)


class ShownFrame(NamedTuple):
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

    def next(self, view: View) -> ShownFrame:
        """The next frame."""
        if self._noise_left > 0:
            self._noise_left -= 1
            self._noise_drawn += 1
            noise = noise_frames(1, seed=self._seed * 1_000_003 + self._noise_drawn, shape=_SHAPE)
            return ShownFrame(noise[0], NOISE_LABEL, -1)
        if view.source == "stream":
            return self._of_stream()
        return still(view)

    def _of_stream(self) -> ShownFrame:
        if self._video is None or self._place == len(self._video):
            self._round, self._place = self._round + 1, 0
            self._video = stream_round(self._seed, self._round)
        at = self._place
        self._place += 1
        label, hidden = int(self._video.labels[at]), int(self._video.rows_hidden[at])
        return ShownFrame(self._video.source(at, at + 1)[0], label, hidden)


def still(view: View) -> ShownFrame:
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
    return ShownFrame(pixels, label, view.occlude)


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
