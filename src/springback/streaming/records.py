"""The records that packages exchange."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check

NOISE_LABEL = 10
"""The eleventh class: a frame that shows none of the ten digits."""


def as_labels(name: str, labels: Any) -> NDArray[Any]:
    """Labels of any kind as int64 (any whole numbers) or as strings, (n,).

    Examples
    --------
    >>> as_labels("labels", [3.0, 7.0]), as_labels("labels", ["cat", "dog"])
    (array([3, 7]), array(['cat', 'dog'], dtype='<U3'))
    """
    given = np.asarray(labels)
    if given.dtype.kind == "O" and all(isinstance(one, str) for one in given.flat):
        given = given.astype(str)
    if given.dtype.kind == "f":
        whole = np.isfinite(given) & (given == np.floor(given)) & (np.abs(given) < 2.0**53)
        others = given[~whole].tolist()
        check.require(not others, name, "be whole numbers or strings", others[:1])
    elif given.dtype.kind == "u":
        check.require(int(given.max(initial=0)) < 2**63, name, "be below 2**63", int(given.max(initial=0)))
    elif given.dtype.kind not in "iUb" and given.size:
        raise TypeError(f"{name} must be whole numbers or strings; got dtype {given.dtype}")
    check.require(given.ndim == 1, name, "be one label per image, in one dimension", given.shape)
    return given if given.dtype.kind == "U" else given.astype(np.int64, copy=False)


class Followed(NamedTuple):
    """The answers of a classifier to T frames of a stream.

    Parameters
    ----------
    posterior : NDArray[np.float64]
        Probability of each class while adapting, (T, K), before a frame itself has moved the model.
    frozen : NDArray[np.float64]
        What the same model answers without any memory, (T, K); NaN if it cannot say both at once.
    novelty : NDArray[np.float64]
        How new a frame is, (T,); NaN if the model has no measure of it. For an exact observer, the probability that the
        frame shows something new; for clusters, 1 minus the largest cosine to any of them.
    output : NDArray[Any] | None
        What a network returns with its elastic head, (T, ...); None: the model is not a network.

    Examples
    --------
    >>> Followed(np.eye(2), np.eye(2), np.zeros(2)).posterior.argmax(axis=1)
    array([0, 1])
    """

    posterior: NDArray[np.float64]
    frozen: NDArray[np.float64]
    novelty: NDArray[np.float64]
    output: NDArray[Any] | None = None

    @staticmethod
    def joined(parts: "Sequence[Followed]") -> "Followed":
        """The answers to several pieces of a stream as one.

        >>> Followed.joined([Followed(np.eye(2), np.eye(2), np.zeros(2))] * 2).novelty
        array([0., 0., 0., 0.])
        """
        columns = zip(*parts, strict=True)
        fields: list[Any] = [None if column[0] is None else np.concatenate(column) for column in columns]
        return Followed(*fields)

    def at(self, rows: NDArray[np.int64]) -> "Followed":
        """The answers to some of the frames, by number."""
        fields: list[Any] = [None if part is None else part[rows] for part in self]
        return Followed(*fields)


@dataclass(frozen=True, eq=False)
class Images:
    """Still pictures with their labels: `pixels` uint8 (n, height, width), `labels` whole numbers or strings (n,).

    Labels that are whole numbers of any dtype are kept as int64.

    Examples
    --------
    >>> Images(np.zeros((2, 28, 28), np.uint8), np.array([3, 7]))[:1].labels
    array([3])
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[Any]

    def __post_init__(self) -> None:
        check.array("Images.pixels", self.pixels, shape=(None, None, None), dtype=np.uint8)
        labels = as_labels("Images.labels", self.labels)
        check.array("Images.labels", labels, shape=(len(self.pixels),), dtype=labels.dtype)
        object.__setattr__(self, "labels", labels)

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Images":
        return Images(self.pixels[rows], self.labels[rows])


FrameSource = Callable[[int, int], NDArray[np.uint8]]
"""(start, stop) -> the frames of that stretch, uint8 (stop - start, height, width)."""


@dataclass(frozen=True, eq=False)
class Video:
    """A continuous sequence of frames whose contents are known; the frames are generated when they are needed.

    `frames` holds the whole video in memory (generated on first use); `chunks` never does.

    Parameters
    ----------
    labels : NDArray[np.int64]
        Class of each frame, int64; `NOISE_LABEL` on noise.
    rows_hidden : NDArray[np.int16]
        Lines of the image under the occluder, int16; -1 on noise.
    ink_hidden : NDArray[np.float32]
        Fraction of the object's ink under the occluder, float32; NaN on noise.
    digit : NDArray[np.int64]
        Index of the source image, int64; -1 on noise.
    frame_shape : tuple[int, int]
        (height, width).
    source : FrameSource
        Generates any stretch of frames.
    name : str
        Identifies the data by preset, version and seed; results quote it.
    """

    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    ink_hidden: NDArray[np.float32]
    digit: NDArray[np.int64]
    frame_shape: tuple[int, int]
    source: FrameSource = field(repr=False)
    name: str = "unnamed"

    def __post_init__(self) -> None:
        n = len(self.labels)
        check.array("Video.labels", self.labels, shape=(None,), dtype=np.int64)
        check.array("Video.rows_hidden", self.rows_hidden, shape=(n,), dtype=np.int16)
        check.array("Video.ink_hidden", self.ink_hidden, shape=(n,), dtype=np.float32, finite=False)
        check.array("Video.digit", self.digit, shape=(n,), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def frames(self) -> NDArray[np.uint8]:
        """All frames at once, uint8 (n, height, width)."""
        return self.source(0, len(self))

    def stretch(self, start: int, stop: int) -> "Video":
        """The frames `start ... stop - 1` as a separate video."""
        check.require(0 <= start <= stop <= len(self), "stretch", f"lie within 0 ... {len(self)}", (start, stop))
        rows = slice(start, stop)
        return Video(
            labels=self.labels[rows],
            rows_hidden=self.rows_hidden[rows],
            ink_hidden=self.ink_hidden[rows],
            digit=self.digit[rows],
            frame_shape=self.frame_shape,
            source=lambda first, last: self.source(start + first, start + last),
            name=self.name,
        )

    def chunks(self, frames_per_chunk: int = 4096) -> Iterator["Video"]:
        """The video in consecutive chunks, which together are the whole video."""
        check.integer("frames_per_chunk", frames_per_chunk, low=1)
        for start in range(0, len(self), frames_per_chunk):
            yield self.stretch(start, min(start + frames_per_chunk, len(self)))

    def shard_bounds(self, n_shards: int) -> list[tuple[int, int]]:
        """(start, stop) of `n_shards` parts of about equal length, each beginning with an object; empty ones last.

        Examples
        --------
        >>> from springback.data import load_mnist, make_omnist
        >>> make_omnist(load_mnist("test")[:4], seed=0).shard_bounds(2)
        [(0, 34), (34, 65)]
        """
        check.integer("n_shards", n_shards, low=1)
        begins = np.flatnonzero((self.digit >= 0) & (np.diff(self.digit, prepend=-2) != 0))
        wanted = np.arange(1, n_shards) * len(self) // n_shards
        places = np.searchsorted(begins, wanted)
        inner = [int(begins[at]) if at < len(begins) else len(self) for at in places]
        return list(pairwise([0, *inner, len(self)]))
