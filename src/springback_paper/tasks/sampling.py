"""The two sampling networks on OMNIST: resting weights from still images by online EM, then one pass over the video.

Nothing comes from test images: resting weights are learned from still training images without labels, neurons are named
by training labels, and what counts as "none of the digits" is set on a video of training images kept aside for that.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.elastic import best_threshold
from springback.streaming.metrics import accuracy, accuracy_by_ink, accuracy_by_rows
from springback.streaming.readout import N_CLASSES, class_responses, class_sizes, label_neurons
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper import sampling
from springback_paper.inputs.digits import Digits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.sampling import (
    OnlineEm,
    SamplingCircuit,
    SamplingStdp,
    SamplingWeights,
    learn_resting,
)
from springback_paper.tasks.entry import Added
from springback_paper.tasks.sampling_networks import SamplingNetwork, all_networks, at_rest

SILENCES = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
"""Values of `silence_below` that are tried on the practice video."""

_CHUNK = 4096


@dataclass(frozen=True, kw_only=True)
class SamplingOmnist:
    """What to run.

    Parameters
    ----------
    power : float
        Brightness is raised to this before anything else.
    learner : SamplingCircuit
        The circuit that learns the resting weights, by `learning`.
    networks : dict[str, SamplingNetwork]
        The circuits that watch the video, by name.
    practice_images : int
        How many of the last training images are kept aside for the video that sets the noise rule.
    test_images : int
        How many test images are shown, unless all are wanted.
    """

    power: float = 0.5
    learner: SamplingCircuit = field(default_factory=lambda: SamplingCircuit(kappa=100.0, rate_hz=20.0))
    learning: OnlineEm = field(default_factory=OnlineEm)
    networks: dict[str, SamplingNetwork] = field(default_factory=all_networks)
    practice_images: int = 300
    test_images: int = 2000

    def __post_init__(self) -> None:
        check.real("SamplingOmnist.power", self.power, above=0)
        check.sizes(self, practice_images=1, test_images=1)


@dataclass(frozen=True, kw_only=True)
class SamplingScore:
    """Accuracy on the video, in all and by what is hidden, with the noise rule that was set on practice video.

    Parameters
    ----------
    silence_below : float
        No neuron fires while the largest similarity is below this.
    spikes_min : float
        A frame with fewer output spikes is noise.
    """

    accuracy: float
    by_rows: dict[str, float]
    by_ink: dict[str, float]
    silence_below: float
    spikes_min: float


@dataclass(frozen=True, kw_only=True)
class SamplingResult:
    """One network: accuracy on still images, and on the video without and with short-term STDP."""

    still_accuracy: float
    static: SamplingScore
    short_term: SamplingScore


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedSampling:
    """Resting weights (n_inputs, K), prior (K,) and class of each neuron (K,); accuracy on the still test images."""

    resting: NDArray[np.float32]
    prior: NDArray[np.float64]
    names: NDArray[np.int64]
    still_accuracy: float


def evaluate(params: SamplingOmnist, train: Images, test: Images, seed: int) -> dict[str, SamplingResult]:
    """Learn from `train`, then show the video of `test` to each network.

    The order of everything random follows from `seed`: learning, both videos, input and output spikes.

    Examples
    --------
    >>> pair = np.random.default_rng(0).integers(0, 255, (2, 28, 28), np.uint8)
    >>> images = Images(np.tile(pair, (30, 1, 1)), np.tile([0, 1], 30))
    >>> one = {"exponential": all_networks()["exponential"]}
    >>> few = SamplingOmnist(learning=OnlineEm(n_neurons=2), networks=one, practice_images=4)
    >>> evaluate(few, images, images[:4], seed=0)["exponential"].still_accuracy
    1.0
    """
    found = {}
    for network in params.networks:
        trained = train_network(network, params, train, test, seed)
        scores = [score_network(network, adapts, params, train, test, trained, seed) for adapts in (False, True)]
        found[network] = SamplingResult(still_accuracy=trained.still_accuracy, static=scores[0], short_term=scores[1])
    return found


def train_network(network: str, params: SamplingOmnist, train: Images, test: Images, seed: int) -> TrainedSampling:
    """Learn weights from all training images but those for practice, name neurons, and show the still test images."""
    check.require(len(train) > params.practice_images, "train", "hold more than the practice images", len(train))
    shown, circuit = train[: len(train) - params.practice_images], params.networks[network].circuit
    bright = brightness(shown.pixels, params.power)
    weights = learn_resting(bright, circuit=params.learner, params=params.learning, seed=seed)
    names = name_neurons(weights, shown, circuit, params.power, seed)
    still = sampling.respond(weights, brightness(test.pixels, params.power), circuit=circuit, seed=seed + 1).counts
    right = accuracy(classes_of(still, names), test.labels)
    return TrainedSampling(resting=weights.resting, prior=weights.prior, names=names, still_accuracy=right)


def score_network(
    network: str, adapts: bool, params: SamplingOmnist, train: Images, test: Images, trained: TrainedSampling, seed: int
) -> SamplingScore:
    """A trained network on the video of the test images, with or without short-term STDP."""
    practice = make_omnist(train[len(train) - params.practice_images :], seed=seed + 1_000_000)
    one = params.networks[network]
    short_term = one.short_term if adapts else None
    weights = SamplingWeights(trained.resting, trained.prior)
    watcher = _Watcher(weights, trained.names, one.circuit, short_term, params.power, seed)
    return watcher.score(practice, make_omnist(test, seed=seed))


def brightness(pixels: NDArray[np.uint8], power: float) -> NDArray[np.uint8]:
    """Images of any shape as rows, each pixel raised to a power on the scale 0 ... 1.

    Examples
    --------
    >>> brightness(np.array([[[0, 64, 255]]], np.uint8), 0.5)
    array([[  0, 128, 255]], dtype=uint8)
    """
    levels = np.rint(255 * (np.arange(256) / 255) ** power).astype(np.uint8)
    return np.asarray(levels[pixels.reshape(len(pixels), -1)])


def name_neurons(
    weights: SamplingWeights, images: Images, circuit: SamplingCircuit, power: float, seed: int
) -> NDArray[np.int64]:
    """The class each neuron answers to most on average, or `UNLABELLED`, from its spikes to still images.

    Examples
    --------
    >>> bars = np.zeros((2, 28, 28), np.uint8)
    >>> bars[0, :, 9], bars[1, 9, :] = 255, 255
    >>> upright_and_flat = sampling.sampling_weights(bars.reshape(2, -1).T)
    >>> name_neurons(upright_and_flat, Images(bars, np.array([1, 7])), SamplingCircuit(), 1.0, seed=0)
    array([1, 7])
    """
    total = np.zeros((N_CLASSES, weights.resting.shape[1]))
    for start in range(0, len(images), _CHUNK):
        part = images[start : start + _CHUNK]
        counts = sampling.respond(weights, brightness(part.pixels, power), circuit=circuit, seed=seed + start).counts
        total += class_responses(counts, part.labels)
    return label_neurons(total, class_sizes(images.labels))


def classes_of(counts: NDArray[np.int32], names: NDArray[np.int64], spikes_min: float = 0.5) -> NDArray[np.int64]:
    """The class whose neurons fired most in sum; `NOISE_LABEL` where fewer than `spikes_min` spikes came in all.

    Spikes of neurons without a name count for no class.

    Examples
    --------
    >>> classes_of(np.array([[1, 2, 2], [0, 0, 0]], np.int32), np.array([7, 2, 2]))
    array([ 2, 10])
    """
    members = (names[:, None] == np.arange(N_CLASSES)).astype(np.float32)
    by_class = counts.astype(np.float32) @ members
    silent = (counts.sum(axis=1) < spikes_min) | (by_class.max(axis=1) == 0)
    return np.where(silent, NOISE_LABEL, by_class.argmax(axis=1))


class _Watcher(NamedTuple):
    """A network with named neurons that watches videos, with or without short-term STDP."""

    weights: SamplingWeights
    names: NDArray[np.int64]
    circuit: SamplingCircuit
    short_term: SamplingStdp | None
    power: float
    seed: int

    def watch(self, video: Video) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Class and number of output spikes of every frame, in one pass in little memory."""
        state = sampling.init(self.weights, self.circuit)
        options = {"circuit": self.circuit, "short_term": self.short_term, "seed": self.seed}
        classes, spikes = [], []
        for part in video.chunks(_CHUNK):
            frames = brightness(part.frames, self.power)
            state, response = sampling.track(self.weights, state, frames, **options)  # type: ignore[arg-type]
            classes.append(classes_of(response.counts, self.names))
            spikes.append(response.counts.sum(axis=1))
        return np.concatenate(classes), np.concatenate(spikes)

    def score(self, practice: Video, video: Video) -> SamplingScore:
        """The accuracy on a video, with the noise rule that is best on the practice video.

        A network without short-term STDP then also has the best of `at_rest` for its circuit.
        """
        best = max((self._rehearsed(silence, practice) for silence in SILENCES), key=lambda one: one.accuracy)
        if self.short_term is None:
            others = [best.watcher._replace(circuit=circuit) for circuit in at_rest(best.watcher.circuit)]
            tried = (one._rehearsed(best.watcher.circuit.silence_below, practice) for one in others)
            best = max(best, *tried, key=lambda one: one.accuracy)
        classes, spikes = best.watcher.watch(video)
        found = np.where(spikes < best.spikes_min, NOISE_LABEL, classes)
        return SamplingScore(
            accuracy=accuracy(found, video.labels),
            by_rows=accuracy_by_rows(found, video),
            by_ink=accuracy_by_ink(found, video),
            silence_below=float(best.watcher.circuit.silence_below or 0.0),
            spikes_min=best.spikes_min,
        )

    def _rehearsed(self, silence: float | None, practice: Video) -> "_Rehearsal":
        """Itself with this silence, and with the best number of spikes below which a practice frame is noise."""
        silenced = self._replace(circuit=replace(self.circuit, silence_below=silence))
        classes, spikes = silenced.watch(practice)
        spikes_min = max(best_threshold(spikes, practice.labels == NOISE_LABEL), 0.5)
        right = accuracy(np.where(spikes < spikes_min, NOISE_LABEL, classes), practice.labels)
        return _Rehearsal(right, silenced, spikes_min)


class _Rehearsal(NamedTuple):
    """A network on the practice video."""

    accuracy: float
    watcher: _Watcher
    spikes_min: float


def score_sampling(
    network: str, adapts: bool, params: SamplingOmnist, train: Images, test: Images, trained: TrainedSampling, seed: int
) -> Scores:
    """One of the sampling networks of the supplement, static or with short-term STDP."""
    found = score_network(network, adapts, params, train, test, trained, seed)
    model = model_of(network, adapts)
    return Scores(
        n_train=len(train),
        n_test=len(test),
        n_frames=len(make_omnist(test, seed=seed)),
        mnist_test={model: trained.still_accuracy},
        omnist_test={model: found.accuracy},
        by_rows_hidden={model: found.by_rows},
        by_ink_hidden={model: found.by_ink},
    )


def model_of(network: str, adapts: bool) -> str:
    """The key of a network in the table of models.

    Examples
    --------
    >>> model_of("spiking relu", adapts=False)
    'sampling_spiking_relu_static'
    """
    return f"sampling_{network.replace(' ', '_')}" + ("" if adapts else "_static")


_SECONDS = {"exponential": (10, 25), "relu": (10, 30), "spiking exponential": (60, 170), "spiking relu": (45, 115)}
"""Of training, and of the practice videos and the test video of 10,000 digits."""


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Both sampling networks, on fewer test digits unless the scope is full; then also those with spiking input."""
    if seed not in scope.fewest_seeds:
        return []
    usual = SamplingOmnist()
    networks = all_networks() if scope.full else {name: usual.networks[name] for name in ("exponential", "relu")}
    sampling = SamplingOmnist(
        learning=replace(usual.learning, n_neurons=scope.neurons),
        practice_images=min(usual.practice_images, (scope.limit or 60_000) // 4),
    )
    tested = Digits("test", scope.limit if scope.full or scope.limit else usual.test_images)
    found: list[Added] = []
    for network, one in networks.items():
        alone = replace(sampling, networks={network: one})
        given = {"network": network, "params": alone, "train": Digits("train", scope.limit), "test": tested}
        models, (training, watching) = (
            {model_of(network, adapts): adapts for adapts in (False, True)},
            _SECONDS[network],
        )
        name, takes = f"{model_of(network, True)}-trained-{seed}", training * scope.share
        trained = Task(name=name, run=train_network, params=given, seed=seed, needs={}, seconds=takes)
        found.append((tuple(models), trained))
        for model, adapts in models.items():
            takes = (watching if scope.full else watching / 2.5) * scope.share
            shown, needs = {**given, "adapts": adapts}, {"trained": trained.name}
            task = Task(name=f"{model}-{seed}", run=score_sampling, params=shown, seed=seed, needs=needs, seconds=takes)
            found.append(((model,), task))
    return found
