"""MNIST and Fashion-MNIST as the tasks see them: all images, or the first of each split for a quick look."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from springback.data import NoiseObject, Omnist, load_fashion_mnist, load_mnist, make_omnist
from springback.streaming.records import Images, Video
from springback_paper.runner.task import Made

REPLACED = Omnist(noise=NoiseObject(with_replacement=True))
"""The other reading of "200 are randomly selected": the pixels of noise are drawn with replacement."""

_SOURCES = {"mnist": load_mnist, "fashion-mnist": load_fashion_mnist}


@lru_cache(maxsize=2)
def digits(split: str, limit: int | None = None, source: str = "mnist") -> Images:
    """The images of a split, or the first `limit` of them; kept in memory for the next task of this process.

    Examples
    --------
    >>> len(digits("test", 30))
    30
    """
    return _SOURCES[source](split)[: limit or None]


def video_of_tests(limit: int | None, seed: int, *, replaced: bool = False) -> Video:
    """The occluded video of the (first) test digits; its noise is that of `REPLACED` if asked for.

    Examples
    --------
    >>> video_of_tests(2, seed=0).labels[0]
    np.int64(7)
    """
    return make_omnist(digits("test", limit), seed=seed, params=REPLACED if replaced else None)


@dataclass(frozen=True)
class Digits(Made):
    """`digits`, loaded by the worker of a task."""

    split: str
    limit: int | None = None
    source: str = "mnist"

    def make(self, seed: int, inputs: Mapping[str, Any]) -> Images:  # noqa: ARG002
        """The images."""
        return digits(self.split, self.limit, self.source)


@dataclass(frozen=True)
class VideoOfTests(Made):
    """`video_of_tests`, made by the worker of a task with the seed of the task."""

    limit: int | None = None
    replaced: bool = False

    def make(self, seed: int, inputs: Mapping[str, Any]) -> Video:  # noqa: ARG002
        """The video."""
        return video_of_tests(self.limit, seed, replaced=self.replaced)


def both_splits(limit: int | None, source: str = "mnist") -> dict[str, Digits]:
    """The arguments `train` and `test` of a task.

    Examples
    --------
    >>> list(both_splits(100))
    ['train', 'test']
    """
    return {split: Digits(split, limit, source) for split in ("train", "test")}
