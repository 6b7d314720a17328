"""The image sets that commands can load, with a spinner while they are downloaded."""

from enum import StrEnum
from pathlib import Path

from springback.cli.display import spinner
from springback.data import load_fashion_mnist, load_mnist
from springback.streaming.records import Images


class Split(StrEnum):
    """The two halves of a data set."""

    train = "train"
    test = "test"


class ImageSet(StrEnum):
    """Image sets that a video can be made of."""

    mnist = "mnist"
    fashion_mnist = "fashion-mnist"


_LOADERS = {ImageSet.mnist: load_mnist, ImageSet.fashion_mnist: load_fashion_mnist}


def load_images(which: ImageSet, split: Split, data_home: Path | None) -> Images:
    """The images, with a spinner while they are downloaded."""
    with spinner(f"loading {which}") as say:
        return _LOADERS[which](split, data_home=data_home, report=say)
