"""Fashion-MNIST: 60,000 and 10,000 images of clothing in ten classes, 28 x 28 pixels (Xiao, Rasul & Vollgraf 2017)."""

import os

from springback.data import catalogue, sources
from springback.data.catalogue import Dataset, Report
from springback.data.checksums import FASHION_MNIST_FILES
from springback.data.packages import Package
from springback.streaming.records import Images

FASHION_MNIST = Dataset(
    name="fashion-mnist",
    files=FASHION_MNIST_FILES,
    sources={
        "Debian's data set folder": sources.folder("/usr/share/datasets/fashion-mnist"),
        "the public mirrors": sources.mirrors(
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets",
        ),
        "the Debian package dataset-fashion-mnist": sources.debian_package(
            Package(
                "dataset-fashion-mnist",
                30_900_652,
                "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
            ),
            "./usr/share/datasets/fashion-mnist",
        ),
    },
)


def load_fashion_mnist(
    split: str, *, data_home: str | os.PathLike[str] | None = None, report: Report = lambda _: None
) -> Images:
    """The `"train"` or `"test"` images of Fashion-MNIST, downloaded and verified on first use; see `load_mnist`.

    Examples
    --------
    >>> load_fashion_mnist("exam")
    Traceback (most recent call last):
    ValueError: split must be one of 'train', 'test'; got 'exam'
    """
    return catalogue.load(FASHION_MNIST, split, data_home, report)
