"""OMNIST: still images made into one continuous video of objects being occluded, with noise in between.

Methods, "The OMNIST dataset": each digit is shown for 11 ... 14 frames while a square slides over it from the top, 3
rows per frame until 18 rows are hidden, then 1 row, and stops at 19; then come four frames of a noisy object, fresh in
each.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.records import NOISE_LABEL, Images, Video

OMNIST_VERSION = 2
"""Counts changes to the bytes that a seed gives; part of every video's name."""

DIRECTIONS = ("down", "up", "right", "left")
_DIGITS_PER_BLOCK = 256


@dataclass(frozen=True, kw_only=True)
class Occluder:
    """A rectangle that slides into the image, slows down and stops.

    Parameters
    ----------
    direction : str
        The way it moves: it enters from the opposite side ("down": from the top).
    speed : int
        Pixels per frame at first.
    slow_speed : int
        Pixels per frame once its front is `slow_from` pixels inside.
    slow_from : int
        Where it slows down, in pixels.
    stop_at : int
        Where its front stops, in pixels.
    length : int | None
        Its size along its way; None: it reaches back out of the image.
    span : tuple[int, int] | None
        (first, last) pixel it covers across its way; None: the whole width.

    Examples
    --------
    >>> Occluder().fronts(9)
    [0, 3, 6, 9, 12, 15, 18, 19, 19]
    """

    direction: str = "down"
    speed: int = 3
    slow_speed: int = 1
    slow_from: int = 18
    stop_at: int = 19
    length: int | None = None
    span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        check.one_of("Occluder.direction", self.direction, DIRECTIONS)
        check.integer("Occluder.speed", self.speed, low=0)
        check.integer("Occluder.slow_speed", self.slow_speed, low=0)
        check.integer("Occluder.slow_from", self.slow_from, low=0)
        check.integer("Occluder.stop_at", self.stop_at, low=0)
        if self.length is not None:
            check.integer("Occluder.length", self.length, low=1)
        if self.span is not None:
            first, last = self.span
            check.integer("Occluder.span[0]", first, low=0)
            check.integer("Occluder.span[1]", last, low=first)

    def fronts(self, n_frames: int) -> list[int]:
        """How many pixels its front is inside the image in each frame of an object."""
        front, way = 0, []
        for _ in range(n_frames):
            way.append(front)
            front = min(front + (self.speed if front < self.slow_from else self.slow_speed), self.stop_at)
        return way

    def visible(self, n_frames: int, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Which pixels can be seen in each frame of an object, (n_frames, height, width)."""
        height, width = shape if self.direction in ("down", "up") else shape[::-1]
        check.require(
            self.stop_at <= height, "Occluder.stop_at", f"be <= {height}, the size of the image", self.stop_at
        )
        span = self.span or (0, width - 1)
        check.require(span[1] < width, "Occluder.span", f"lie within 0 ... {width - 1}", span)
        mask = np.ones((n_frames, height, width), np.bool_)
        for step, front in enumerate(self.fronts(n_frames)):
            back = 0 if self.length is None else max(front - self.length, 0)
            mask[step, back:front, span[0] : span[1] + 1] = False
        if self.direction in ("up", "left"):
            mask = mask[:, ::-1]
        return np.ascontiguousarray(mask if self.direction in ("down", "up") else mask.transpose(0, 2, 1))


@dataclass(frozen=True, kw_only=True)
class NoiseObject:
    """A rectangle of random pixels in the middle of the image, drawn afresh in each of its frames.

    Of all pixels of the frame `candidates` are drawn without replacement; those outside the rectangle are dropped, the
    others get a brightness uniform in `low` ... `high`.
    """

    n_frames: int = 4
    candidates: int = 200
    width: int = 15
    height: int = 12
    low: int = 0
    high: int = 255

    def __post_init__(self) -> None:
        check.integer("NoiseObject.n_frames", self.n_frames, low=0)
        check.integer("NoiseObject.candidates", self.candidates, low=0)
        check.integer("NoiseObject.width", self.width, low=1)
        check.integer("NoiseObject.height", self.height, low=1)
        check.integer("NoiseObject.low", self.low, low=0)
        check.integer("NoiseObject.high", self.high, low=self.low, high=255)

    def rectangle(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Where noise can be, (height, width)."""
        check.require(self.height <= shape[0], "NoiseObject.height", f"be <= {shape[0]}", self.height)
        check.require(self.width <= shape[1], "NoiseObject.width", f"be <= {shape[1]}", self.width)
        top, left = (shape[0] - self.height) // 2, (shape[1] - self.width) // 2
        inside = np.zeros(shape, np.bool_)
        inside[top : top + self.height, left : left + self.width] = True
        return inside

    def draw(self, n: int, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.uint8]:
        """`n` noise frames, uint8 (n, height, width)."""
        size = shape[0] * shape[1]
        check.require(
            self.candidates <= size, "NoiseObject.candidates", f"be <= {size}, the pixels of a frame", self.candidates
        )
        frames = np.zeros((n, size), np.uint8)
        if n == 0 or self.candidates == 0:
            return frames.reshape(n, *shape)
        # Distinct keys have one k-th smallest, whichever algorithm finds it; the order of a partition has no such law.
        keys = rng.integers(2**32, size=(n, size), dtype=np.uint64) << np.uint64(32) | np.arange(size, dtype=np.uint64)
        last = np.partition(keys, self.candidates - 1, axis=1)[:, self.candidates - 1, None]
        brightness = rng.integers(self.low, self.high, (n, size), dtype=np.uint8, endpoint=True)
        frames[:] = brightness * (keys <= last) * self.rectangle(shape).ravel()
        return frames.reshape(n, *shape)


@dataclass(frozen=True, kw_only=True)
class Omnist:
    """How still images become an occluded video; the defaults are the paper's (see `omnist_2020`)."""

    frames_min: int = 11
    frames_max: int = 14
    occluder: Occluder = field(default_factory=Occluder)
    noise: NoiseObject = field(default_factory=NoiseObject)

    def __post_init__(self) -> None:
        check.integer("Omnist.frames_min", self.frames_min, low=1)
        check.integer("Omnist.frames_max", self.frames_max, low=self.frames_min)


def omnist_2020() -> Omnist:
    """The video of Moraitis, Sebastian & Eleftheriou (2020), Methods, "The OMNIST dataset"."""
    return Omnist()


def make_omnist(images: Images, *, seed: int = 0, params: Omnist | None = None) -> Video:
    """The occluded video of the images, in their order: about 16.5 frames for each.

    Same images, seed and parameters, same bytes, on every machine; frames are made when asked for, so a video of a
    million frames is iterated with `chunks` in little memory.

    Examples
    --------
    >>> one = Images(np.full((1, 28, 28), 9, np.uint8), np.array([4]))
    >>> video = make_omnist(one, seed=0)
    >>> video.rows_hidden[:9], video.labels[-4:]
    (array([ 0,  3,  6,  9, 12, 15, 18, 19, 19], dtype=int16), array([10, 10, 10, 10]))
    """
    params = params or omnist_2020()
    check.integer("seed", seed, low=0)
    shape = images.pixels.shape[1:]
    visible = params.occluder.visible(params.frames_max, shape)
    params.noise.draw(0, shape, np.random.default_rng(0))
    params.noise.rectangle(shape)
    shown = _stream(seed, 0).integers(params.frames_min, params.frames_max, len(images), endpoint=True)
    lengths = shown + params.noise.n_frames
    first = np.concatenate([[0], np.cumsum(lengths)])
    owner = np.repeat(np.arange(len(images)), lengths)
    step = np.arange(first[-1]) - first[owner]
    noisy = step >= shown[owner]
    labels = images.labels
    whole = labels.dtype.kind == "i"
    check.require(whole, "images.labels", "be whole numbers, as those of a video are", str(labels.dtype))
    check.require(NOISE_LABEL not in labels, "images.labels", f"leave {NOISE_LABEL} to the noise", NOISE_LABEL)
    show = np.where(noisy, 0, step)
    hidden = _rows_hidden(visible, params.occluder.direction)

    noise = noise_blocks(params.noise, shape, lambda block: _stream(seed, 1 + block))

    def frames(start: int, stop: int) -> NDArray[np.uint8]:
        rows = slice(start, stop)
        made = images.pixels[owner[rows]] * visible[show[rows]]
        at = np.flatnonzero(noisy[rows])
        made[at] = noise(owner[rows][at], step[rows][at] - shown[owner[rows][at]])
        return made

    return Video(
        labels=np.where(noisy, NOISE_LABEL, labels[owner]),
        rows_hidden=np.where(noisy, -1, hidden[show]).astype(np.int16),
        ink_hidden=np.where(noisy, np.nan, _ink_hidden(images.pixels, visible)[owner, show]).astype(np.float32),
        digit=np.where(noisy, -1, owner),
        frame_shape=(shape[0], shape[1]),
        source=frames,
        name=f"omnist v{OMNIST_VERSION} seed {seed} of {image_fingerprint(images, asdict(params))}",
    )


def _stream(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence([OMNIST_VERSION, seed, number]))


def _rows_hidden(visible: NDArray[np.bool_], direction: str) -> NDArray[np.int16]:
    """Lines with any pixel under the occluder, for each frame of an object."""
    across = 2 if direction in ("down", "up") else 1
    lines: NDArray[np.int64] = (~visible).any(axis=across).sum(axis=1)
    return lines.astype(np.int16)


def _ink_hidden(pixels: NDArray[np.uint8], visible: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Share of each image's brightness under the occluder, (images, frames of an object); 0 where there is no ink."""
    covered = (~visible).reshape(len(visible), -1).T.astype(np.float32)
    share = np.zeros((len(pixels), len(visible)), np.float32)
    for start in range(0, len(pixels), 4096):
        part = pixels[start : start + 4096].reshape(-1, covered.shape[0]).astype(np.float32)
        share[start : start + 4096] = (part @ covered) / np.maximum(part.sum(axis=1, keepdims=True), 1.0)
    return share


def image_fingerprint(images: Images, params: dict[str, Any]) -> str:
    """A short name of the images and parameters, so that two videos of one name are the same video."""
    digest = hashlib.sha256(repr(params).encode())
    for part in (images.pixels, images.labels):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:12]


def noise_blocks(
    noise: NoiseObject, shape: tuple[int, ...], stream: Callable[[int], np.random.Generator]
) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.uint8]]:
    """Noise frames of any object at any time: drawn in blocks of objects, each from a generator of its own.

    The function returned takes the objects' numbers and which of their noise frames is wanted, (n,) each.
    """

    @lru_cache(maxsize=2)
    def draw(block: int) -> NDArray[np.uint8]:
        return noise.draw(_DIGITS_PER_BLOCK * noise.n_frames, (shape[0], shape[1]), stream(block))

    def frames(which: NDArray[np.int64], step: NDArray[np.int64]) -> NDArray[np.uint8]:
        made = np.empty((len(which), shape[0], shape[1]), np.uint8)
        place = (which % _DIGITS_PER_BLOCK) * noise.n_frames + step
        for block in np.unique(which // _DIGITS_PER_BLOCK):
            mine = which // _DIGITS_PER_BLOCK == block
            made[mine] = draw(int(block))[place[mine]]
        return made

    return frames


def noise_frames(
    n: int, *, seed: int, params: NoiseObject | None = None, shape: Sequence[int] = (28, 28)
) -> NDArray[np.uint8]:
    """`n` frames of the noisy object alone, uint8 (n, height, width): the eleventh class of a training set.

    Examples
    --------
    >>> noise_frames(2, seed=0).shape
    (2, 28, 28)
    """
    check.integer("n", n, low=0)
    return (params or NoiseObject()).draw(n, (shape[0], shape[1]), np.random.default_rng([OMNIST_VERSION, seed]))
