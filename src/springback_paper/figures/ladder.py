"""Where accuracy is lost between elastic clustering and the spiking circuit: one change on each rung of a ladder.

The rungs lead from the theory to the biology. Each has everything that the rungs above it have, and one change; the
last ones are changes of the complete circuit, each for itself. Settings are not tuned again after a change, except for
the noise thresholds of the clusterings and sampling networks, which are set on a video of training digits.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.spiking.model import SpikingModel
from springback.spiking.params import LongTermStdp
from springback.spiking.training import learned, resume_training
from springback.spiking.training import train as train_circuit
from springback.spiking.weights import Weights
from springback.streaming.metrics import accuracy, score_video
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper import sampling as networks
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.style import BLUE, ORANGE, house_style
from springback_paper.figures.table import Table, tidy
from springback_paper.figures.three_readouts import ReadNetwork, read_network
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.run_scope import Scope
from springback_paper.tasks import elastic, sampling
from springback_paper.tasks.elastic import Centroids
from springback_paper.tasks.sampling import SamplingOmnist, TrainedSampling
from springback_paper.tasks.sampling_networks import all_networks

Floats = NDArray[np.float64]

CLUSTERING = "elastic clustering"
BRIGHTNESS = "brightness as it is, without its root"
LABELS = "each centroid with one label"
SAMPLES = "posterior estimated by spikes"
POISSON = "Poisson spikes as input"
NEURONS = "integrate-and-fire neurons with inhibition"
CIRCUIT = "resting weights by STDP: the circuit"
SUMS = "circuit, equal sums and learned thresholds"
VOTES = "circuit, spikes vote"
LIKELIEST = "circuit, likeliest class"
RUNGS = (CLUSTERING, BRIGHTNESS, LABELS, SAMPLES, POISSON, NEURONS, CIRCUIT, SUMS, VOTES, LIKELIEST)
"""The ladder from the theory to the circuit, and three changes of the circuit."""

MEASURES = ("still digits", "video", "nothing hidden", "noise")
"""The last two are parts of the video."""

Measured = tuple[float, float, float, float]

_AT_ONCE = 500
"""Digits after which learned thresholds are shifted back to their mean."""


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """What to run.

    Parameters
    ----------
    n_test : int
        Test digits.
    n_labelling : int
        Training digits that label centroids and neurons.
    n_practice : int
        Training digits of the video that sets the noise thresholds.
    n_homeostasis : int
        Training digits from which thresholds are learned, where they are.
    theta_step_mv : float
        Step of the threshold at a spike, while thresholds are learned.
    """

    n_test: int = 10_000
    n_labelling: int = 60_000
    n_practice: int = 300
    n_homeostasis: int = 10_000
    theta_step_mv: float = 0.2

    def __post_init__(self) -> None:
        check.sizes(self, n_test=1, n_labelling=1, n_practice=1, n_homeostasis=1)
        check.real("Ladder.theta_step_mv", self.theta_step_mv, above=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class LadderResult:
    """The accuracy on every rung, (rungs, measures), in the order of `RUNGS` and `MEASURES`."""

    rungs: tuple[str, ...]
    accuracy: Floats
    n_neurons: int
    n_test: int
    n_labelling: int
    trained_on: str
    seed: int


class _Digits(NamedTuple):
    """What every rung is given."""

    train: Images
    labelling: Images
    test: Images
    video: Video
    seed: int


def run(
    params: Ladder,
    model: SpikingModel,
    centroids: Centroids,
    root_centroids: Centroids,
    train: Images,
    test: Images,
    *,
    seed: int = 0,
) -> LadderResult:
    """Climb the ladder: the same test digits and the same video on every rung."""
    tested, labelling = test[: params.n_test], train[: params.n_labelling]
    digits = _Digits(train, labelling, tested, make_omnist(tested, seed=seed), seed)
    found = _clusterings(params, digits, centroids, root_centroids)
    for rung, network in ((SAMPLES, "exponential"), (POISSON, "spiking exponential")):
        found[rung] = _sampling(params, digits, centroids, network)
    columns = np.asarray(centroids.resting, np.float64).T
    found[NEURONS] = _read(_circuit(model, columns), digits)["hard labels"]
    circuit = _circuit(model, model.weights.resting.astype(np.float64))
    by_readout = _read(circuit, digits)
    found |= {CIRCUIT: by_readout["hard labels"], VOTES: by_readout["votes"], LIKELIEST: by_readout["likeliest"]}
    found[SUMS] = _read(with_equal_sums(circuit, params, train, seed=seed), digits)["hard labels"]
    return LadderResult(
        rungs=RUNGS,
        accuracy=np.array([found[rung] for rung in RUNGS]),
        n_neurons=model.preset.circuit.n_neurons,
        n_test=len(tested),
        n_labelling=len(labelling),
        trained_on=model.data,
        seed=seed,
    )


def _clusterings(params: Ladder, digits: _Digits, plain: Centroids, root: Centroids) -> dict[str, Measured]:
    """Elastic clustering, with the brightness of the comparison and as it is, by shares of labels and by one label."""
    found = {}
    for rung, centroids, power in ((CLUSTERING, root, ElasticOmnist().power), (BRIGHTNESS, plain, 1.0)):
        settings = ElasticOmnist(n_clusters=len(centroids.resting), power=power, threshold_images=params.n_practice)
        named = elastic.name_centroids(settings, centroids.resting, digits.labelling)
        following, shares = named.clustering_.model_, named.label_shares_
        practice = elastic.practice_video(digits.train, params.n_practice, digits.seed)
        threshold = elastic.noise_threshold(following, shares, practice, power)
        still = named.clustering_.predict_proba(brightness(digits.test.pixels, power))
        one = (np.arange(shares.shape[1]) == shares.argmax(axis=1)[:, None]).astype(shares.dtype)
        for name, labels in ({rung: shares} | ({LABELS: one} if rung == BRIGHTNESS else {})).items():
            right = accuracy(named.classes_[(still @ labels).argmax(axis=1)], digits.test.labels)
            column, similarity = elastic.follow(following, labels, digits.video, power)
            answers = np.where(similarity < threshold, NOISE_LABEL, named.classes_[column])
            found[name] = _on_video(right, answers, digits)
    return found


def _on_video(still: float, answers: NDArray[np.int64], digits: _Digits) -> Measured:
    score = score_video(answers, digits.video)
    return still, score.accuracy, score.by_rows_hidden["0"], score.by_rows_hidden["noise"]


def _sampling(params: Ladder, digits: _Digits, centroids: Centroids, network: str) -> Measured:
    """A sampling network with these centroids as its resting weights."""
    one = all_networks()[network]
    settings = SamplingOmnist(power=1.0, networks={network: one}, practice_images=params.n_practice)
    weights = networks.sampling_weights(centroids.resting.T)
    names = sampling.name_neurons(weights, digits.labelling, one.circuit, 1.0, digits.seed)
    counts = networks.respond(weights, digits.test.pixels, circuit=one.circuit, seed=digits.seed + 1).counts
    still = accuracy(sampling.classes_of(counts, names), digits.test.labels)
    trained = TrainedSampling(resting=weights.resting, prior=weights.prior, names=names, still_accuracy=still)
    found = sampling.score_network(network, True, settings, digits.train, digits.test, trained, digits.seed)
    return still, found.accuracy, found.by_rows["0"], found.by_rows["noise"]


def _circuit(model: SpikingModel, columns: Floats) -> SpikingModel:
    """The circuit with other resting weights: each neuron's of equal length, and with one threshold.

    Length and threshold are the means of the trained circuit; where it has them equal, its own weights stay.
    """
    resting, theta = model.weights
    length = np.linalg.norm(resting, axis=0).mean()
    scaled = (columns * (length / np.linalg.norm(columns, axis=0))).astype(resting.dtype)
    return replace(model, weights=Weights(scaled, np.full_like(theta, theta.mean())))


def with_equal_sums(circuit: SpikingModel, params: Ladder, digits: Images, *, seed: int) -> SpikingModel:
    """The circuit with weights of equal sum, and with thresholds that were learned for them.

    The weights are frozen while each spike raises the threshold of its neuron, until all neurons fire about equally
    often. Sum and mean threshold stay those of the circuit before.
    """
    resting, theta = circuit.weights
    sums = resting.sum(axis=0)
    equal = (resting * (sums.mean() / sums)).astype(resting.dtype)
    homeostasis = LongTermStdp(
        rate_pre=0.0,
        rate_post=0.0,
        weight_sum=float(sums.mean()),
        weight_max=max(1.0, float(equal.max())),
        theta_step_mv=params.theta_step_mv,
    )
    preset, now = circuit.preset, theta
    for start in range(0, min(params.n_homeostasis, len(digits)), _AT_ONCE):
        state, _ = train_circuit(
            resume_training(Weights(equal, now), preset.circuit, n_seen=start),
            digits.pixels[start : start + _AT_ONCE],
            circuit=preset.circuit,
            stdp=homeostasis,
            presentation=preset.training,
            seed=seed,
        )
        raised = learned(state, homeostasis, preset.circuit).theta
        now = raised - (raised.mean() - theta.mean()).astype(theta.dtype)
    return replace(circuit, weights=Weights(equal, now))


def _read(circuit: SpikingModel, digits: _Digits) -> dict[str, Measured]:
    """The circuit on still digits and on the video, by readout."""
    network: ReadNetwork = read_network(circuit, digits.labelling)
    still = network.recognise(digits.test, seed=digits.seed)
    video = network.follow(digits.video, seed=digits.seed)
    return {name: _on_video(still[name], score.predicted, digits) for name, score in video.items()}


_TURN = RUNGS.index(CIRCUIT)
"""The rungs up to this one are a ladder; those below are changes of this one."""


@house_style()
def draw(result: LadderResult) -> Figure:
    """A row for each rung, a panel for each measure; a line joins the rungs of the ladder."""
    n = len(result.rungs)
    figure = Figure(figsize=(7.2, 0.29 * n + 0.9), layout="constrained")
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    places = np.arange(n)
    for column, (panel, measure) in enumerate(zip(panels, MEASURES, strict=True)):
        right = 100 * result.accuracy[:, column]
        panel.plot(right[: _TURN + 1], places[: _TURN + 1], "o-", color=BLUE, markersize=4, linewidth=1.2)
        panel.scatter(right[_TURN + 1 :], places[_TURN + 1 :], color=ORANGE, s=16, zorder=3)
        panel.axvline(right[_TURN], color="0.8", linewidth=0.8, zorder=0)
        for place, value in zip(places, right, strict=True):
            panel.annotate(f"{value:.1f}", (1, place), xycoords=("axes fraction", "data"), va="center", fontsize=7)
        panel.set_title(measure, loc="left", fontsize=8)
        panel.margins(x=0.15)
        panel.grid(axis="x", color="0.93")
        panel.tick_params(axis="y", length=0)
    panels[0].set_yticks(places, result.rungs)
    panels[0].invert_yaxis()
    figure.supxlabel("accuracy (%); blue: one change after another; orange: changes of the circuit", fontsize=8)
    return figure


def table(result: LadderResult) -> Table:
    """The accuracy on every rung, and its difference to the rung that it changes."""
    before = [max(place - 1, 0) if place <= _TURN else _TURN for place in range(len(result.rungs))]
    gained = result.accuracy - result.accuracy[before]
    compared = np.array([result.rungs[place] for place in before])[:, None]
    numbers = {"compared_with": compared, "accuracy": result.accuracy, "difference": gained}
    return tidy({"rung": result.rungs, "measure": MEASURES}, {**numbers, "test_digits": result.n_test})


def given(scope: Scope) -> dict[str, Ladder]:
    """Every digit in a full run, and some of them otherwise."""
    if scope.limit is not None:
        few = {"n_practice": max(2, scope.limit // 10), "n_labelling": scope.limit, "n_homeostasis": scope.limit}
        return {"params": Ladder(n_test=scope.few_digits, **few)}
    some = {} if scope.full else {"n_test": 300, "n_labelling": 5000, "n_practice": 100, "n_homeostasis": 3000}
    return {"params": Ladder(**some)}


EXHIBIT = Exhibit(
    title="From elastic clustering to the circuit",
    section=THEORY,
    draw=draw,
    table=table,
    shows=(
        "Where accuracy is lost between the theory and the circuit: each rung has one more change, and the last three "
        "change the circuit in one point each."
    ),
    ran=lambda r: (
        f"{r.n_neurons:,} centroids or neurons, {r.n_test:,} test digits and their video, labels from "
        f"{r.n_labelling:,} training digits, seed {r.seed}."
    ),
    paper="nothing of this.",
    run=run,
    given=given,
    seconds=30,
    full_seconds=700,
)
