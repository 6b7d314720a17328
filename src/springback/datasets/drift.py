"""Images that turn, move or fade while they are shown: continuous streams other than OMNIST.

Each image is shown upright first. From frame to frame it then turns by an angle, moves by a distance and changes its
brightness by a factor; rate and direction are drawn once for each image, and every step is jittered, so that the way it
takes is random but continuous. Noise frames stand between images, as in OMNIST.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.datasets.omnist import NoiseObject, image_fingerprint, noise_blocks
from springback.records import NOISE_LABEL, Images, Video

DRIFT_VERSION = 2
"""Counts changes to the bytes that a seed gives; part of every video's name."""

_GRID = 2.0**16
"""Ways are rounded to this fraction: sines and powers differ in their last bits from one processor to the next."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How images drift; a rate is the largest per frame, each image takes between half of it and all of it.

    Parameters
    ----------
    turn_degrees : float
        To either side.
    move_pixels : float
        In any direction.
    fade : float
        Share of the brightness lost per frame, towards black.
    jitter : float
        Spread of a single step around the image's rate, as a share of it.
    frames_min, frames_max : int
        How long an image is shown.
    noise : NoiseObject
        What stands between images.
    """

    turn_degrees: float = 0.0
    move_pixels: float = 0.0
    fade: float = 0.0
    jitter: float = 0.5
    frames_min: int = 11
    frames_max: int = 14
    noise: NoiseObject = field(default_factory=NoiseObject)

    def __post_init__(self) -> None:
        check.real("Drift.turn_degrees", self.turn_degrees, low=0)
        check.real("Drift.move_pixels", self.move_pixels, low=0)
        check.real("Drift.fade", self.fade, low=0, high=1)
        check.real("Drift.jitter", self.jitter, low=0)
        check.integer("Drift.frames_min", self.frames_min, low=1)
        check.integer("Drift.frames_max", self.frames_max, low=self.frames_min)


def turning() -> Drift:
    """Up to 12 degrees a frame: after twelve frames an image lies on its side or hangs upside down."""
    return Drift(turn_degrees=12.0)


def moving() -> Drift:
    """Up to 1.2 pixels a frame: the image ends at the border, partly outside."""
    return Drift(move_pixels=1.2)


def fading() -> Drift:
    """Up to 35 % of the brightness a frame: the image ends nearly black."""
    return Drift(fade=0.35)


def make_drift(images: Images, *, seed: int = 0, params: Drift) -> Video:
    """The drifting video of the images, in their order; same images, seed and parameters, same bytes everywhere.

    Examples
    --------
    >>> one = Images(np.full((1, 28, 28), 200, np.uint8), np.array([4]))
    >>> video = make_drift(one, seed=0, params=fading())
    >>> bool(video.frames[0, 14, 14] > 2 * video.frames[10, 14, 14]), video.labels[-4:]
    (True, array([10, 10, 10, 10]))
    """
    check.integer("seed", seed, low=0)
    shape = images.pixels.shape[1:]
    params.noise.rectangle(shape)
    rng = np.random.default_rng([DRIFT_VERSION, seed, 0])
    shown = rng.integers(params.frames_min, params.frames_max, len(images), endpoint=True)
    first = np.concatenate([[0], np.cumsum(shown + params.noise.n_frames)])
    owner = np.repeat(np.arange(len(images)), shown + params.noise.n_frames)
    step = np.arange(first[-1]) - first[owner]
    noisy = step >= shown[owner]
    way = _way(params, len(images), rng)
    noise = noise_blocks(params.noise, shape, lambda block: np.random.default_rng([DRIFT_VERSION, seed, 1 + block]))

    def frames(start: int, stop: int) -> NDArray[np.uint8]:
        rows = slice(start, stop)
        made = np.zeros((stop - start, *shape), np.uint8)
        at = np.flatnonzero(~noisy[rows])
        _warp(images.pixels, owner[rows][at], way[owner[rows][at], step[rows][at]], at, made)
        at = np.flatnonzero(noisy[rows])
        made[at] = noise(owner[rows][at], step[rows][at] - shown[owner[rows][at]])
        return made

    return Video(
        labels=np.where(noisy, NOISE_LABEL, images.labels[owner]),
        rows_hidden=np.where(noisy, -1, 0).astype(np.int16),
        ink_hidden=np.where(noisy, np.nan, 0).astype(np.float32),
        digit=np.where(noisy, -1, owner),
        frame_shape=(shape[0], shape[1]),
        source=frames,
        name=f"drift v{DRIFT_VERSION} seed {seed} of {image_fingerprint(images, asdict(params))}",
    )


def _way(params: Drift, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Cosine and sine of the angle, shift down and right in pixels, and brightness of every frame, (n, frames_max, 5).

    All are multiples of 1 / 65536, so that what `_warp` makes of them is the same on every machine.
    """
    rate = rng.uniform(0.5, 1, (n, 1))
    steps = rate * (1 + params.jitter * rng.standard_normal((n, params.frames_max)))
    steps[:, 0] = 0
    travelled = steps.cumsum(axis=1)
    side = rng.choice([-1.0, 1.0], (n, 1))
    heading = rng.uniform(0, 2 * np.pi, (n, 1))
    angle = np.deg2rad(params.turn_degrees) * side * travelled
    way = np.stack(
        [
            np.cos(angle),
            np.sin(angle),
            params.move_pixels * np.sin(heading) * travelled,
            params.move_pixels * np.cos(heading) * travelled,
            (1 - params.fade) ** np.maximum(travelled, 0),
        ],
        axis=-1,
    )
    return np.asarray(np.rint(way * _GRID) / _GRID)


@njit(cache=True)
def _warp(pixels: Any, which: Any, way: Any, into: Any, made: Any) -> None:
    """Turn, move and dim images around their middle, between pixels by bilinear interpolation.

    Only sums, products and `floor`, never fused: the same bytes on every machine.
    """
    height, width = pixels.shape[1:]
    middle_row, middle_column = (height - 1) / 2, (width - 1) / 2
    for i in range(which.size):
        cosine, sine, down, right, gain = way[i]
        for row in range(height):
            for column in range(width):
                y, x = row - middle_row - down, column - middle_column - right
                from_row = cosine * y - sine * x + middle_row
                from_column = sine * y + cosine * x + middle_column
                top, left = int(np.floor(from_row)), int(np.floor(from_column))
                part_row, part_column = from_row - top, from_column - left
                value = 0.0
                for r in range(2):
                    for c in range(2):
                        if 0 <= top + r < height and 0 <= left + c < width:
                            weight = (part_row if r else 1 - part_row) * (part_column if c else 1 - part_column)
                            value += weight * pixels[which[i], top + r, left + c]
                made[into[i], row, column] = np.uint8(gain * value + 0.5)
