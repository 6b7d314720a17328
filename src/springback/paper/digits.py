"""MNIST and Fashion-MNIST as the tasks see them: all images, or the first of each split for a quick look."""

from functools import lru_cache

from springback.datasets import load_fashion_mnist, load_mnist, make_omnist
from springback.records import Images, Video


@lru_cache(maxsize=2)
def digits(split: str, limit: int | None = None, *, fashion: bool = False) -> Images:
    """The images of a split, or the first `limit` of them; kept in memory for the next task of this process.

    Parameters
    ----------
    fashion : bool
        Articles of clothing in the place of digits.

    Examples
    --------
    >>> len(digits("test", 30))
    30
    """
    return (load_fashion_mnist if fashion else load_mnist)(split)[: limit or None]


def video_of_tests(limit: int | None, seed: int) -> Video:
    """The occluded video of the (first) test digits.

    Examples
    --------
    >>> video_of_tests(2, seed=0).labels[0]
    np.int64(7)
    """
    return make_omnist(digits("test", limit), seed=seed)
