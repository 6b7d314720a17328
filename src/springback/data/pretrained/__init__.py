"""The models that are shipped with the package: three small trained models, and a hundred test digits.

`shipped_spiking` is for `springback.spiking.SpikingClassifier.of`, `shipped_elastic` holds centroids for
`springback.elastic`, `shipped_cnn` the weights of the paper's CNN, and `shipped_digits` test digits to try them on. All
files are checked when they are read.
"""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import read
from springback.files.quantised import Codes, decode
from springback.files.regular import read_bytes
from springback.spiking.model import SpikingModel
from springback.spiking.presets import springback_2026
from springback.spiking.weights import Weights
from springback.streaming.records import Images

__all__ = ["ShippedElastic", "shipped_cnn", "shipped_digits", "shipped_elastic", "shipped_spiking"]

N_NEURONS = 400
N_PIXELS = 784
DIGITS_PER_CLASS = 10
CHECKSUMS = "SHA256SUMS"
LARGEST_FILE = 2_000_000
"""Size limit in bytes; a larger file is refused without reading it."""

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


class CodedDigits(NamedTuple):
    """The file of the digits."""

    pixels: NDArray[np.uint8]


class CodedSpiking(NamedTuple):
    """The file of the spiking network: weights of each neuron as bytes."""

    resting: Codes
    theta: NDArray[Any]
    neuron_labels: NDArray[np.int64]


class CodedElastic(NamedTuple):
    """The file of the centroids, as bytes."""

    resting: Codes
    label_shares: NDArray[np.float32]
    noise_thresholds: NDArray[np.float64]


class CodedCnn(NamedTuple):
    """The file of the CNN: its weights by name, as bytes."""

    weights: dict[str, Codes]


class ShippedElastic(NamedTuple):
    """Elastic clustering: centroids (400, 784), P(label | cluster) (400, 10), and the thresholds for noise.

    Parameters
    ----------
    noise_elastic, noise_frozen : float
        The similarity below which a frame is noise, while adapting and at rest; set on a video of training digits.
    """

    resting: NDArray[np.float32]
    label_shares: NDArray[np.float32]
    noise_elastic: float
    noise_frozen: float


def models_folder() -> Path:
    """The folder of the files in the installed package."""
    return Path(str(files("springback.data.pretrained") / "models"))


@lru_cache(maxsize=1)
def shipped_digits() -> Images:
    """The first ten test digits of each class, in order of class: example e of digit d has index 10 d + e.

    Examples
    --------
    >>> shipped_digits().labels[[0, 9, 10, 99]]
    array([0, 0, 1, 9])
    """
    found: Images = read_file("digits")
    return found


@lru_cache(maxsize=1)
def shipped_spiking() -> SpikingModel:
    """The spiking network with 400 neurons, trained on MNIST without labels.

    Examples
    --------
    >>> shipped_spiking().weights.resting.shape
    (784, 400)
    """
    found: SpikingModel = read_file("spiking")
    return found


@lru_cache(maxsize=1)
def shipped_elastic() -> ShippedElastic:
    """The 400 centroids of MNIST with their labels.

    Examples
    --------
    >>> shipped_elastic().label_shares.shape
    (400, 10)
    """
    found: ShippedElastic = read_file("elastic")
    return found


@lru_cache(maxsize=1)
def shipped_cnn() -> dict[str, NDArray[np.float32]]:
    """The weights of the paper's CNN by name, trained on still digits and noise.

    Examples
    --------
    >>> shipped_cnn()["head.weight"].shape
    (11, 400)
    """
    found: dict[str, NDArray[np.float32]] = read_file("cnn")
    return found


def digits_of(file: CodedDigits) -> Images:
    """The digits of a file."""
    pixels = check.array("pixels", file.pixels, shape=(10 * DIGITS_PER_CLASS, 28, 28), dtype=np.uint8)
    return Images(pixels, np.repeat(np.arange(10), DIGITS_PER_CLASS))


def spiking_of(file: CodedSpiking) -> SpikingModel:
    """The spiking network of a file."""
    preset = springback_2026(n_neurons=N_NEURONS)
    by_neuron = _decoded("resting", file.resting, (N_NEURONS, N_PIXELS))
    return SpikingModel(
        preset=preset,
        weights=Weights(np.ascontiguousarray(by_neuron.T), file.theta),
        neuron_labels=file.neuron_labels,
        data=f"mnist train, shuffled, {preset.epochs} times, rates times {preset.rate_decay:g} after each",
        n_seen=60_000 * preset.epochs,
    )


def elastic_of(file: CodedElastic) -> ShippedElastic:
    """The centroids of a file, none of length zero, and a distribution over labels for each."""
    thresholds = check.array("noise_thresholds", file.noise_thresholds, shape=(2,), dtype=np.float64)
    shares = check.array("label_shares", file.label_shares, shape=(N_NEURONS, 10), dtype=np.float32)
    inside = bool(((shares >= 0) & (shares <= 1)).all())
    check.require(inside, "label_shares", "lie in 0 ... 1", (shares.min(), shares.max()))
    return ShippedElastic(
        resting=_decoded("resting", file.resting, (N_NEURONS, N_PIXELS)),
        label_shares=shares,
        noise_elastic=check.real("noise_thresholds[0]", float(thresholds[0]), low=-1, high=1),
        noise_frozen=check.real("noise_thresholds[1]", float(thresholds[1]), low=-1, high=1),
    )


def cnn_of(file: CodedCnn) -> dict[str, NDArray[np.float32]]:
    """The weights of the CNN of a file, by name."""
    names = sorted(file.weights)
    check.require(names == sorted(CNN_SHAPE), "the weights", f"be {', '.join(sorted(CNN_SHAPE))}", names)
    return {name: _decoded(name, file.weights[name], shape) for name, shape in CNN_SHAPE.items()}


FILES: dict[str, tuple[str, type[Any], Callable[[Any], Any]]] = {
    "digits": ("data", CodedDigits, digits_of),
    "spiking": ("model", CodedSpiking, spiking_of),
    "elastic": ("model", CodedElastic, elastic_of),
    "cnn": ("model", CodedCnn, cnn_of),
}
"""The kind of each file, the record it holds, and what is made of that."""


def read_file(name: str, folder: Path | None = None) -> Any:
    """What a shipped file holds; a missing, oversized or changed file raises a one-sentence error."""
    folder = folder or models_folder()
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise DataError(f"{path} is missing; `python -m springback_paper.pretraining` creates it again")
    if hashlib.sha256(read_bytes(path, largest=LARGEST_FILE)).hexdigest() != _checksums(folder).get(path.name):
        raise DataError(f"{path} is not the file that was shipped (its checksum differs); reinstall springback")
    kind, record, then = FILES[name]
    return read(path, kind, record, then, largest=LARGEST_FILE)


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / CHECKSUMS
    text = read_bytes(path, largest=LARGEST_FILE).decode(errors="replace") if path.exists() else ""
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _decoded(name: str, codes: Codes, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return check.array(name, decode(codes), shape=shape, dtype=np.float32)
