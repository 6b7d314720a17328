"""The records of a stream benchmark: a stream of features, a frozen head, and both together as one split."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

NOT_SCORED = -1
"""The label of a frame that has no correct answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stream:
    """One stream through a frozen network, in the order of time.

    Parameters
    ----------
    features : NDArray[np.float32]
        What the last layer of the network receives, (T, n).
    labels : NDArray[np.int64]
        The right class of each frame, (T,); -1 where there is none.
    times : NDArray[np.float64]
        Time stamps, (T,), rising.
    objects : NDArray[np.int64]
        Which object each frame shows, (T,); a new number whenever another object appears. An object that returns has
        the number that it had before.

    Examples
    --------
    >>> stream = Stream(
    ...     features=np.eye(3, dtype=np.float32),
    ...     labels=np.array([0, 0, 1]),
    ...     times=np.arange(3.0),
    ...     objects=np.array([0, 0, 1]),
    ... )
    >>> len(stream)
    3
    """

    features: NDArray[np.float32]
    labels: NDArray[np.int64]
    times: NDArray[np.float64]
    objects: NDArray[np.int64]

    def __post_init__(self) -> None:
        check.array("Stream.features", self.features, shape=(None, None), dtype=np.float32)
        check.require(len(self.features) > 0, "Stream.features", "hold a frame", self.features.shape)
        length = (len(self.features),)
        check.array("Stream.labels", self.labels, shape=length, dtype=np.int64)
        check.array("Stream.times", self.times, shape=length, dtype=np.float64)
        check.array("Stream.objects", self.objects, shape=length, dtype=np.int64)
        check.require(bool((np.diff(self.times) > 0).all()), "Stream.times", "rise from frame to frame", "times")
        check.require(bool((self.labels >= NOT_SCORED).all()), "Stream.labels", "be -1 or a class", self.labels.min())

    def __len__(self) -> int:
        return len(self.features)

    def frames_away(self) -> NDArray[np.int64]:
        """How many frames an object was away before it returned, for each frame after the return; 0 elsewhere, (T,).

        Examples
        --------
        >>> seen = np.array([5, 5, 7, 7, 7, 5, 5, 8])
        >>> stream = Stream(features=np.zeros((8, 1), np.float32), labels=seen, times=np.arange(8.0), objects=seen)
        >>> stream.frames_away()
        array([0, 0, 0, 0, 0, 3, 3, 0])
        """
        begins = np.flatnonzero(np.diff(self.objects, prepend=self.objects[:1] - 1))
        ends = np.append(begins[1:], len(self))
        away = np.zeros(len(self), np.int64)
        left: dict[int, int] = {}
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            number = int(self.objects[begin])
            away[begin:end] = begin - left.get(number, begin)
            left[number] = end
        return away

    def shuffled(self, seed: int) -> "Stream":
        """The same frames in random order, so that nothing can be learned from the neighbours of a frame.

        Examples
        --------
        >>> eye = np.eye(2, dtype=np.float32)
        >>> stream = Stream(features=eye, labels=np.arange(2), times=np.arange(2.0), objects=np.arange(2))
        >>> sorted(stream.shuffled(0).labels.tolist())
        [0, 1]
        """
        order = np.random.default_rng(seed).permutation(len(self))
        return Stream(
            features=np.ascontiguousarray(self.features[order]),
            labels=self.labels[order],
            times=self.times,
            objects=np.arange(len(self)),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Head:
    """The frozen last layer of a network: logits `x @ weight.T + bias`.

    Parameters
    ----------
    weight : NDArray[np.float32]
        (K, n).
    bias : NDArray[np.float32]
        (K,).
    centre : NDArray[np.float32]
        Mean of the features that the head was trained on, (n,).

    Examples
    --------
    >>> head = Head(weight=np.eye(2, dtype=np.float32), bias=np.zeros(2, np.float32), centre=np.zeros(2, np.float32))
    >>> head.logits(np.ones((1, 2), np.float32))
    array([[1., 1.]], dtype=float32)
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    centre: NDArray[np.float32]

    def __post_init__(self) -> None:
        check.array("Head.weight", self.weight, shape=(None, None), dtype=np.float32)
        check.array("Head.bias", self.bias, shape=(len(self.weight),), dtype=np.float32)
        check.array("Head.centre", self.centre, shape=(self.weight.shape[1],), dtype=np.float32)

    def logits(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """The answers of the frozen head, (T, K)."""
        return np.asarray(features @ self.weight.T + self.bias, np.float32)

    def accuracy(self, streams: Iterable[Stream]) -> float:
        """The share of frames that the frozen head answers correctly; NaN if no frame is scored.

        Examples
        --------
        >>> eye = np.eye(3, dtype=np.float32)
        >>> head = Head(weight=eye, bias=np.zeros(3, np.float32), centre=np.zeros(3, np.float32))
        >>> known = np.array([0, 2, -1])
        >>> head.accuracy([Stream(features=eye, labels=known, times=np.arange(3.0), objects=known)])
        0.5
        """
        right = [
            self.logits(one.features).argmax(axis=1)[one.labels != NOT_SCORED] == one.labels[one.labels != NOT_SCORED]
            for one in streams
        ]
        whole = np.concatenate([np.empty(0, np.bool_), *right])
        return float(whole.mean()) if whole.size else math.nan


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamSplit:
    """A frozen head, streams on which to choose settings, and other streams to test them on.

    Parameters
    ----------
    name : str
        Of the stream set, such as "coil-known".
    split : int
        Number of the split or seed.
    head : Head
        The frozen head.
    validation, test : tuple[Stream, ...]
        Every stream begins at rest. No image, object, recording or passage of text is in both, and no person, except
        where persons are the classes.
    """

    name: str
    split: int
    head: Head
    validation: tuple[Stream, ...]
    test: tuple[Stream, ...]

    def __post_init__(self) -> None:
        check.require(len(self.validation) > 0, "StreamSplit.validation", "hold a stream", self.validation)
        check.require(len(self.test) > 0, "StreamSplit.test", "hold a stream", self.test)
        classes, width = self.head.weight.shape
        for stream in (*self.validation, *self.test):
            check.array("Stream.features", stream.features, shape=(None, width), dtype=np.float32)
            most = int(stream.labels.max(initial=NOT_SCORED))
            check.require(most < classes, "Stream.labels", f"be below {classes}, the classes of the head", most)
