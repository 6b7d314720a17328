"""What travels with the package: three small trained models and a hundred test digits, checked when they are read."""

import hashlib
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check, readout
from springback.check import DataError
from springback.outside import read_bytes
from springback.records import Images
from springback.spiking.network import Weights, check_weights
from springback.spiking.presets import Preset, springback_2026
from springback.storage import read_tensors
from springback.studio.quantised import Codes, decode

N_NEURONS = 400
N_PIXELS = 784
DIGITS_PER_CLASS = 10
CHECKSUMS = "SHA256SUMS"
LARGEST_FILE = 2_000_000
"""Bytes; a file that claims to be one of ours and is larger is refused unread."""

KIND = "studio model"
CNN_SHAPE = {
    "first.weight": (8, 1, 5, 5),
    "first.bias": (8,),
    "second.weight": (8, 8, 5, 5),
    "second.bias": (8,),
    "hidden.weight": (400, 392),
    "hidden.bias": (400,),
    "head.weight": (11, 400),
    "head.bias": (11,),
}


class ShippedSpiking(NamedTuple):
    """A spiking network: its preset, its weights, and the class of each neuron, int64 (400,)."""

    preset: Preset
    weights: Weights
    neuron_labels: NDArray[np.int64]


class ShippedElastic(NamedTuple):
    """Elastic clustering: centroids (400, 784), P(label | cluster) (400, 10), and when a frame is noise.

    noise_elastic, noise_static   below which proximity it is, adapting and at rest; set on a video of training digits
    """

    resting: NDArray[np.float32]
    label_shares: NDArray[np.float32]
    noise_elastic: float
    noise_static: float


def models_folder() -> Path:
    """Where the files lie in the installed package."""
    return Path(str(files("springback.studio") / "models"))


@lru_cache(maxsize=1)
def shipped_digits() -> Images:
    """The first ten test digits of each class, in order of class: example e of digit d stands at 10 d + e.

    >>> shipped_digits().labels[[0, 9, 10, 99]]
    array([0, 0, 1, 9])
    """
    tensors = read_file("digits")
    n = 10 * DIGITS_PER_CLASS
    pixels = check.array("digits", tensors["pixels"], shape=(n, 28, 28), dtype=np.uint8)
    return Images(pixels, np.repeat(np.arange(10), DIGITS_PER_CLASS))


@lru_cache(maxsize=1)
def shipped_spiking() -> ShippedSpiking:
    """The spiking network with 400 neurons, trained on MNIST without labels.

    >>> shipped_spiking().weights.resting.shape
    (784, 400)
    """
    tensors = read_file("spiking")
    preset = springback_2026(n_neurons=N_NEURONS)
    by_neuron = _decoded(tensors, "resting", (N_NEURONS, N_PIXELS))
    theta = check.array("theta", tensors["theta"], shape=(N_NEURONS,), dtype=np.float32)
    labels = check.array("neuron_labels", tensors["neuron_labels"], shape=(N_NEURONS,), dtype=np.int64)
    known = bool(((labels >= readout.UNLABELLED) & (labels < readout.N_CLASSES)).all())
    check.require(known, "neuron_labels", "lie in -1 ... 9", labels)
    weights = check_weights(Weights(np.ascontiguousarray(by_neuron.T), theta), preset.circuit)
    return ShippedSpiking(preset, weights, labels)


@lru_cache(maxsize=1)
def shipped_elastic() -> ShippedElastic:
    """The 400 centroids of MNIST with their names.

    >>> shipped_elastic().label_shares.shape
    (400, 10)
    """
    tensors = read_file("elastic")
    thresholds = check.array("noise_thresholds", tensors["noise_thresholds"], shape=(2,), dtype=np.float64)
    return ShippedElastic(
        resting=_decoded(tensors, "resting", (N_NEURONS, N_PIXELS)),
        label_shares=check.array("label_shares", tensors["label_shares"], shape=(N_NEURONS, 10), dtype=np.float32),
        noise_elastic=check.real("noise_thresholds[0]", float(thresholds[0]), low=-1, high=1),
        noise_static=check.real("noise_thresholds[1]", float(thresholds[1]), low=-1, high=1),
    )


@lru_cache(maxsize=1)
def shipped_cnn() -> dict[str, NDArray[np.float32]]:
    """The weights of the paper's CNN by name, trained on still digits and noise.

    >>> shipped_cnn()["head.weight"].shape
    (11, 400)
    """
    tensors = read_file("cnn")
    return {name: _decoded(tensors, name, shape) for name, shape in CNN_SHAPE.items()}


def read_file(name: str, folder: Path | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of one shipped file; a missing, oversized or changed file is refused in one sentence."""
    folder = folder or models_folder()
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise DataError(f"{path} is missing; `python -m springback.studio.making` makes it anew")
    if hashlib.sha256(read_bytes(path, largest=LARGEST_FILE)).hexdigest() != _checksums(folder).get(path.name):
        raise DataError(f"{path} is not the file that was shipped (its checksum differs); reinstall springback")
    return read_tensors(path, kind=KIND, largest=LARGEST_FILE)[0]


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    text = read_bytes(path, largest=LARGEST_FILE).decode(errors="replace") if path.exists() else ""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _decoded(tensors: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    try:
        codes = Codes(*(tensors[f"{name}.{part}"] for part in Codes._fields))
    except KeyError as error:
        raise DataError(f"the shipped model must hold {error}") from error
    return check.array(name, decode(codes), shape=shape, dtype=np.float32)
