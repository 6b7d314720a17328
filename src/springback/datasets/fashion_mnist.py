"""Fashion-MNIST: 60,000 and 10,000 pieces of clothing in ten classes, 28 x 28 pixels (Xiao, Rasul & Vollgraf 2017)."""

import os

from springback.datasets import catalogue, sources
from springback.datasets.catalogue import Dataset, Report
from springback.datasets.checksums import FASHION_MNIST_FILES
from springback.records import Images

FASHION_MNIST = Dataset(
    name="fashion-mnist",
    files=FASHION_MNIST_FILES,
    sources={
        "Debian's data set folder": sources.folder("/usr/share/datasets/fashion-mnist"),
        "the public mirrors": sources.mirrors(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
        ),
        "the Debian package dataset-fashion-mnist": sources.debian_package(
            "dataset-fashion-mnist", "./usr/share/datasets/fashion-mnist"
        ),
    },
)


def load_fashion_mnist(
    split: str, *, data_home: str | os.PathLike[str] | None = None, report: Report = lambda _: None
) -> Images:
    """The `"train"` or `"test"` images of Fashion-MNIST, fetched and verified on first use, as `load_mnist` does it.

    >>> load_fashion_mnist("exam")
    Traceback (most recent call last):
    ValueError: split must be one of 'train', 'test'; got 'exam'
    """
    return catalogue.load(FASHION_MNIST, split, data_home, report)
