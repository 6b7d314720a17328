"""The models that are shipped with the package: three small trained models, and a hundred test digits.

`shipped_spiking` is for `springback.spiking.SpikingClassifier.of`, `shipped_elastic` holds centroids for
`springback.elastic`, `shipped_cnn` the weights of the paper's CNN, and `shipped_digits` test digits to try them on. All
files are checked when they are read.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check, readout
from springback.check import DataError
from springback.outside import read_bytes
from springback.quantised import Codes, decode
from springback.records import Images
from springback.spiking.model import SpikingModel
from springback.spiking.presets import springback_2026
from springback.spiking.weights import Weights, check_weights
from springback.storage import read_tensors

__all__ = ["ShippedElastic", "shipped_cnn", "shipped_digits", "shipped_elastic", "shipped_spiking"]

N_NEURONS = 400
N_PIXELS = 784
DIGITS_PER_CLASS = 10
CHECKSUMS = "SHA256SUMS"
LARGEST_FILE = 2_000_000
"""Size limit in bytes; a larger file is refused without reading it."""

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


class ShippedElastic(NamedTuple):
    """Elastic clustering: centroids (400, 784), P(label | cluster) (400, 10), and the thresholds for noise.

    Parameters
    ----------
    noise_elastic, noise_static : float
        The similarity below which a frame is noise, while adapting and at rest; set on a video of training digits.
    """

    resting: NDArray[np.float32]
    label_shares: NDArray[np.float32]
    noise_elastic: float
    noise_static: float


def models_folder() -> Path:
    """The folder of the files in the installed package."""
    return Path(str(files("springback.pretrained") / "models"))


@lru_cache(maxsize=1)
def shipped_digits() -> Images:
    """The first ten test digits of each class, in order of class: example e of digit d has index 10 d + e.

    Examples
    --------
    >>> shipped_digits().labels[[0, 9, 10, 99]]
    array([0, 0, 1, 9])
    """
    return digits_of(read_file("digits"))


@lru_cache(maxsize=1)
def shipped_spiking() -> SpikingModel:
    """The spiking network with 400 neurons, trained on MNIST without labels.

    Examples
    --------
    >>> shipped_spiking().weights.resting.shape
    (784, 400)
    """
    return spiking_of(read_file("spiking"))


@lru_cache(maxsize=1)
def shipped_elastic() -> ShippedElastic:
    """The 400 centroids of MNIST with their labels.

    Examples
    --------
    >>> shipped_elastic().label_shares.shape
    (400, 10)
    """
    return elastic_of(read_file("elastic"))


@lru_cache(maxsize=1)
def shipped_cnn() -> dict[str, NDArray[np.float32]]:
    """The weights of the paper's CNN by name, trained on still digits and noise.

    Examples
    --------
    >>> shipped_cnn()["head.weight"].shape
    (11, 400)
    """
    return cnn_of(read_file("cnn"))


Tensors = dict[str, NDArray[Any]]


@contextmanager
def _usable(tensors: Tensors, *names: str) -> Iterator[None]:
    """Turn missing or malformed arrays of a file into a one-sentence error."""
    try:
        check.require(set(tensors) == set(names), "it", f"hold {', '.join(sorted(names))}", sorted(tensors))
        yield
    except (TypeError, ValueError) as error:
        raise DataError(f"a shipped model is not usable: {error}") from error


def digits_of(tensors: Tensors) -> Images:
    """The digits of a file."""
    n = 10 * DIGITS_PER_CLASS
    with _usable(tensors, "pixels"):
        pixels = check.array("pixels", tensors["pixels"], shape=(n, 28, 28), dtype=np.uint8)
        return Images(pixels, np.repeat(np.arange(10), DIGITS_PER_CLASS))


def spiking_of(tensors: Tensors) -> SpikingModel:
    """The spiking network of a file."""
    preset = springback_2026(n_neurons=N_NEURONS)
    with _usable(tensors, *_parts("resting"), "theta", "neuron_labels"):
        by_neuron = _decoded(tensors, "resting", (N_NEURONS, N_PIXELS))
        labels = check.array("neuron_labels", tensors["neuron_labels"], shape=(N_NEURONS,), dtype=np.int64)
        known = bool(((labels >= readout.UNLABELLED) & (labels < readout.N_CLASSES)).all())
        check.require(known, "neuron_labels", "lie in -1 ... 9", labels)
        weights = check_weights(Weights(np.ascontiguousarray(by_neuron.T), tensors["theta"]), preset.circuit)
        data = f"mnist train, shuffled, {preset.epochs} times, rates times {preset.rate_decay:g} after each"
        return SpikingModel(
            preset=preset, weights=weights, neuron_labels=labels, data=data, n_seen=60_000 * preset.epochs
        )


def elastic_of(tensors: Tensors) -> ShippedElastic:
    """The centroids of a file, none of length zero, and a distribution over labels for each."""
    with _usable(tensors, *_parts("resting"), "label_shares", "noise_thresholds"):
        thresholds = check.array("noise_thresholds", tensors["noise_thresholds"], shape=(2,), dtype=np.float64)
        shares = check.array("label_shares", tensors["label_shares"], shape=(N_NEURONS, 10), dtype=np.float32)
        inside = bool(((shares >= 0) & (shares <= 1)).all())
        check.require(inside, "label_shares", "lie in 0 ... 1", (shares.min(), shares.max()))
        return ShippedElastic(
            resting=_decoded(tensors, "resting", (N_NEURONS, N_PIXELS)),
            label_shares=shares,
            noise_elastic=check.real("noise_thresholds[0]", float(thresholds[0]), low=-1, high=1),
            noise_static=check.real("noise_thresholds[1]", float(thresholds[1]), low=-1, high=1),
        )


def cnn_of(tensors: Tensors) -> dict[str, NDArray[np.float32]]:
    """The weights of the CNN of a file, by name."""
    with _usable(tensors, *(part for name in CNN_SHAPE for part in _parts(name))):
        return {name: _decoded(tensors, name, shape) for name, shape in CNN_SHAPE.items()}


def read_file(name: str, folder: Path | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of one shipped file; a missing, oversized or changed file raises a one-sentence error."""
    folder = folder or models_folder()
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise DataError(f"{path} is missing; `python -m springback.studio.pretraining` creates it again")
    if hashlib.sha256(read_bytes(path, largest=LARGEST_FILE)).hexdigest() != _checksums(folder).get(path.name):
        raise DataError(f"{path} is not the file that was shipped (its checksum differs); reinstall springback")
    return read_tensors(path, kind=KIND, largest=LARGEST_FILE)[0]


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    text = read_bytes(path, largest=LARGEST_FILE).decode(errors="replace") if path.exists() else ""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _parts(name: str) -> list[str]:
    return [f"{name}.{part}" for part in Codes._fields]


def _decoded(tensors: Tensors, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    codes = Codes(*(tensors[part] for part in _parts(name)))
    return check.array(name, decode(codes), shape=shape, dtype=np.float32)
