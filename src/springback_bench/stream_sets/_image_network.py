"""Videos of images through the paper's CNN: the shipped one for digits, or one that is trained here for clothing.

The network was trained on still images and on noise, which is the eleventh class. Validation streams show the last
training images, and test streams show test images, other ones in each split (extra: torch).
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback.data.mnist import load_fashion_mnist, load_mnist
from springback.data.omnist import noise_frames
from springback.data.pretrained import shipped_cnn
from springback.streaming.records import NOISE_LABEL, Images
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets._small_network import SmallNetwork, digit_network, get_weights, set_weights
from springback_bench.stream_sets.record import Stream, StreamSplit

N_VALIDATION, N_TEST = 500, 1000
"""Images of a stream."""

_HELD_OUT = 3 * N_VALIDATION
"""The last training images, which the network for clothing is not trained on."""

_EXAMPLES = 5000
"""Training images whose features have the mean that the head keeps."""

_IMAGES_PER_NOISE = 10
"""How many training images there are for each example of noise."""

_LAYERS = {"first": 0, "second": 3, "hidden": 7, "head": 10}
"""The layers of the shipped network, by their names."""


class Film(NamedTuple):
    """A video: its frames in chunks, uint8 (n, 28, 28), and the class and the object of each, (T,)."""

    chunks: Iterable[NDArray[np.uint8]]
    labels: NDArray[np.int64]
    objects: NDArray[np.int64]


def image_split(
    name: str,
    split: int,
    film: Callable[[Images, int], Film],
    home: Path,
    report: Report,
    *,
    clothing: bool = False,
    knows_noise: bool = True,
) -> StreamSplit:
    """A split whose streams are videos; `film` makes the video of images and a seed.

    Parameters
    ----------
    knows_noise : bool
        Whether the head has the eleventh class.
    """
    load = load_fashion_mnist if clothing else load_mnist
    train, test = (load(part, data_home=home, report=report) for part in ("train", "test"))
    network = _for_clothing(train, home, report) if clothing else _for_digits()
    practice, tested = parts_of(train, test, split)
    head = network.head(train.pixels[:_EXAMPLES, None])
    if not knows_noise:
        head = replace(head, weight=head.weight[:NOISE_LABEL].copy(), bias=head.bias[:NOISE_LABEL].copy())
    report("following the videos")
    return StreamSplit(
        name=name,
        split=split,
        head=head,
        validation=(_stream(network, film(practice, 2 * split + 1)),),
        test=(_stream(network, film(tested, 2 * split)),),
    )


def parts_of(train: Images, test: Images, split: int) -> tuple[Images, Images]:
    """Training images to choose settings on, counted from the last one, and test images.

    Examples
    --------
    >>> images = Images(np.zeros((3000, 1, 1), np.uint8), np.arange(3000))
    >>> practice, tested = parts_of(images, images, 1)
    >>> practice.labels[[0, -1]], tested.labels[[0, -1]]
    (array([2000, 2499]), array([1000, 1999]))
    """
    last = len(train) - split * N_VALIDATION
    return train[last - N_VALIDATION : last], test[split * N_TEST : (split + 1) * N_TEST]


def _for_digits() -> SmallNetwork:
    network = digit_network()
    named = {name.partition("."): weights for name, weights in shipped_cnn().items()}
    set_weights(network, {f"{_LAYERS[layer]}.{part}": weights for (layer, _, part), weights in named.items()})
    return network


def _for_clothing(images: Images, home: Path, report: Report) -> SmallNetwork:
    network = digit_network()

    def train() -> dict[str, NDArray[np.float32]]:
        report("training a network on Fashion-MNIST")
        learned = images[:-_HELD_OUT]
        noise = noise_frames(len(learned) // _IMAGES_PER_NOISE, seed=0)
        labels = np.concatenate([learned.labels, np.full(len(noise), NOISE_LABEL)])
        inputs = np.concatenate([learned.pixels, noise])[:, None]
        network.train(inputs, labels, epochs=3, batch=64, learning_rate=1e-3, seed=0)
        return get_weights(network)

    set_weights(network, kept(home, "fashion-network", train))
    return network


def _stream(network: SmallNetwork, film: Film) -> Stream:
    return Stream(
        features=np.concatenate([network.features(frames[:, None]) for frames in film.chunks]),
        labels=film.labels,
        times=np.arange(len(film.labels), dtype=np.float64),
        objects=film.objects,
    )
