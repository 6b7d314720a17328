"""The paper's network: what each point that the paper leaves open, or that its code has otherwise, is worth.

Every variant learns from the first training digits and is scored on the others. No test digit is touched.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import NoiseObject, Omnist, make_omnist
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import label_model, train_model
from springback.spiking.model import SpikingModel
from springback.spiking.params import InhibitoryNeuron
from springback.spiking.presets import moraitis_2020
from springback.spiking.recorded_runs import record_stream, simulate_spikes
from springback.spiking.weights import Weights, check_weights
from springback.streaming import metrics, readout
from springback.streaming.records import Images, Video
from springback.streaming.wording import percent
from springback_paper.figures.exhibit import SUPPLEMENT, Exhibit, seeds_in_words
from springback_paper.figures.style import BLUE, ORANGE, house_style
from springback_paper.figures.table import Table, tidy
from springback_paper.models import MODELS
from springback_paper.run_scope import Scope
from springback_paper.wording import listed

Floats = NDArray[np.float64]

AS_WRITTEN = "shown once, in order: as written"
PRESET = "shown three times, in random order: the preset"
DELAYS = "the preset, inputs delayed by up to 10 ms"
MEASURES = ("still digits", "static", "static, own best", "short-term STDP")


@dataclass(frozen=True, kw_only=True)
class PaperNetwork:
    """What to run.

    Parameters
    ----------
    n_held_out : int
        How many of the last training digits are not learned from; all scores are on them.
    n_digits, n_delayed : int
        Digits of a video, and of the video for delayed inputs, which take twenty times as long.
    fine_dt_ms : float
        The step of the variant with finer steps.
    neurons : int
        Neurons of the network.
    """

    n_held_out: int = 5000
    n_digits: int = 500
    n_delayed: int = 60
    fine_dt_ms: float = 0.1
    neurons: int = 400

    def __post_init__(self) -> None:
        check.sizes(self, n_held_out=1, n_digits=1, n_delayed=1, neurons=2)
        check.real("PaperNetwork.fine_dt_ms", self.fine_dt_ms, above=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperNetworkResult:
    """Accuracy of every variant, mean and standard deviation over seeds; NaN where there is none.

    Parameters
    ----------
    variants : tuple[str, ...]
        Their names.
    mean, std : Floats
        (variants, measures), the measures in the order of `MEASURES`.
    """

    variants: tuple[str, ...]
    mean: Floats
    std: Floats
    seeds: tuple[int, ...]
    n_digits: int
    n_delayed: int
    n_train: int


class _Held(NamedTuple):
    """Digits that the networks have not learned from, and their video."""

    digits: Images
    video: Video
    replaced: Video
    few: Video


def run(params: PaperNetwork, train: Images, *, seeds: Sequence[int] = (0, 1, 2)) -> PaperNetworkResult:
    """Train the network in each way, once for each seed, and score all variants on the same held-out digits."""
    n_held = min(params.n_held_out, len(train) // 3)
    fit, held = train[: len(train) - n_held], train[len(train) - n_held :]
    n_digits, n_delayed = min(params.n_digits, n_held), min(params.n_delayed, n_held)
    found = [_scores(params, fit, _held(held, n_digits, n_delayed, seed), seed) for seed in seeds]
    names = tuple(found[0])
    values = np.array([[one[name] for name in names] for one in found])
    spread = values.std(axis=0, ddof=1) if len(seeds) > 1 else np.full(values[0].shape, np.nan)
    return PaperNetworkResult(
        variants=names,
        mean=values.mean(axis=0),
        std=spread,
        seeds=tuple(int(seed) for seed in seeds),
        n_digits=n_digits,
        n_delayed=n_delayed,
        n_train=len(fit),
    )


def _held(digits: Images, n_digits: int, n_delayed: int, seed: int) -> _Held:
    shown = digits[:: max(1, len(digits) // n_digits)][:n_digits]
    replaced = Omnist(noise=NoiseObject(with_replacement=True))
    return _Held(
        digits,
        make_omnist(shown, seed=seed),
        make_omnist(shown, seed=seed, params=replaced),
        make_omnist(shown[:n_delayed], seed=seed),
    )


def _scores(params: PaperNetwork, fit: Images, held: _Held, seed: int) -> dict[str, tuple[float, ...]]:
    """The accuracies of all variants for one seed, in the order of `MEASURES`."""
    preset = moraitis_2020(n_neurons=params.neurons)
    ways = {
        AS_WRITTEN: replace(preset, epochs=1, shuffled=False),
        "shown once, in random order": replace(preset, epochs=1),
        PRESET: preset,
        "the preset, thresholds decay in pauses, too": replace(
            preset, long_term=replace(preset.long_term, theta_decays_at_rest=True)
        ),
        "the preset, inhibition half a ms later": replace(
            preset, circuit=replace(preset.circuit, inhibitory=InhibitoryNeuron())
        ),
    }
    trained = {name: train_model(fit, way, seed=seed) for name, way in ways.items()}
    model = trained[PRESET]
    fine = replace(model, preset=replace(preset, circuit=replace(preset.circuit, dt_ms=params.fine_dt_ms)))
    fine = label_model(fine, fit[: len(held.digits)])
    found = {name: _measured(one, held.digits, held.video, seed) for name, one in trained.items()}
    return found | {
        "the preset, noise drawn with replacement": _measured(model, held.digits, held.replaced, seed),
        f"the preset, steps of {params.fine_dt_ms:g} ms": _measured(fine, held.digits, held.few, seed),
        "the preset, on fewer digits": _measured(model, held.digits, held.few, seed),
        DELAYS: _delayed(model, held.few, seed),
    }


def _measured(model: SpikingModel, digits: Images, video: Video, seed: int) -> tuple[float, ...]:
    return (
        recognise_images(model, digits, seed=seed).accuracy,
        follow_video(model, video, adapts=False, seed=seed).accuracy,
        follow_video(model.static(), video, adapts=False, seed=seed).accuracy,
        follow_video(model, video, seed=seed).accuracy,
    )


def _delayed(model: SpikingModel, video: Video, seed: int) -> tuple[float, ...]:
    """The same spikes, but every synapse delays them by its own time; each digit begins at rest.

    An input with a delay is many inputs, one for each delay; each neuron listens to the one that has its delay.
    """
    late = _Delays.draw(model, np.random.default_rng([seed, 1]))
    static = late.right(model, video, adapts=False, seed=seed)
    best = late.right(model.static(), video, adapts=False, seed=seed)
    return float("nan"), static, best, late.right(model, video, adapts=True, seed=seed)


class _Delays(NamedTuple):
    """Weights (n_inputs * n_delays, n_neurons), of which each synapse has one per input that is not zero."""

    weights: Weights
    n_delays: int

    @classmethod
    def draw(cls, model: SpikingModel, rng: np.random.Generator) -> "_Delays":
        """A delay of 0 ... 10 ms for each synapse."""
        resting, circuit = model.weights.resting, model.preset.circuit
        n_delays = round(10.0 / circuit.dt_ms) + 1
        delay = rng.integers(0, n_delays, resting.shape)
        wide = np.zeros((len(resting), n_delays, resting.shape[1]), resting.dtype)
        np.put_along_axis(wide, delay[:, None, :], resting[:, None, :], axis=1)
        wider = replace(circuit, n_inputs=len(resting) * n_delays)
        return cls(check_weights(Weights(wide.reshape(-1, resting.shape[1]), model.weights.theta), wider), n_delays)

    def right(self, model: SpikingModel, video: Video, *, adapts: bool, seed: int) -> float:
        """The share of frames that are answered correctly, shown digit by digit."""
        preset, shown = model.preset, model.preset.streaming
        theta = self.weights.theta + self.weights.theta.dtype.type(shown.threshold_shift_mv)
        circuit = replace(preset.circuit, n_inputs=len(self.weights.resting))
        weights = check_weights(Weights(self.weights.resting, theta), circuit)
        per_frame = round(shown.show_ms / circuit.dt_ms)
        late = np.arange(self.n_delays)
        answers = []
        parts = [part for part in video.shard_bounds(int(video.digit.max()) + 1) if part[0] < part[1]]
        for number, (start, stop) in enumerate(parts):
            frames = video.source(start, stop)
            first = record_stream(model.weights, frames, circuit=preset.circuit, presentation=shown, seed=seed + number)
            index = (first.in_index[:, None] * self.n_delays + late).ravel()
            step = (first.in_step[:, None] + late).ravel()
            order = np.argsort(step, kind="stable")
            again = simulate_spikes(
                weights,
                index[order],
                step[order],
                per_frame * len(frames) + self.n_delays,
                circuit=circuit,
                short_term=preset.short_term if adapts else None,
            )
            counts = np.zeros((len(frames) + 1, circuit.n_neurons), np.int32)
            np.add.at(counts, (again.out_step // per_frame, again.out_index), 1)
            answers.append(readout.classify(counts[: len(frames)], model.neuron_labels, model.classes))
        return metrics.accuracy(np.concatenate(answers), video.labels)


_PAPER = {
    "still digits": MODELS["moraitis_static"].still,
    "static": MODELS["moraitis_static"].video,
    "static, own best": None,
    "short-term STDP": MODELS["moraitis_st_stdp"].video,
}


@house_style()
def draw(result: PaperNetworkResult) -> Figure:
    """A row for each variant, a panel for each measure; a band marks the paper's value."""
    n = len(result.variants)
    figure = Figure(figsize=(7.2, 0.3 * n + 0.9), layout="constrained")
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    places = np.arange(n)
    for column, (panel, measure) in enumerate(zip(panels, MEASURES, strict=True)):
        mean, std = 100 * result.mean[:, column], np.nan_to_num(100 * result.std[:, column])
        paper = _PAPER[measure]
        if paper is not None:
            panel.axvspan(
                100 * (paper.mean - paper.std), 100 * (paper.mean + paper.std), color=ORANGE, alpha=0.35, lw=0
            )
        panel.errorbar(mean, places, xerr=std, fmt="o", markersize=4, color=BLUE, elinewidth=1.0)
        panel.set_title(measure, loc="left", fontsize=8)
        panel.margins(x=0.15)
        panel.grid(axis="x", color="0.93")
        panel.tick_params(axis="y", length=0)
    panels[0].set_yticks(places, result.variants)
    panels[0].invert_yaxis()
    figure.supxlabel("accuracy (%) on held-out training digits; orange: the paper's, on test digits", fontsize=8)
    return figure


def table(result: PaperNetworkResult) -> Table:
    """The accuracy of every variant."""
    return tidy(
        {"variant": result.variants, "measure": MEASURES},
        {"accuracy_mean": result.mean, "accuracy_std": result.std, "seeds": len(result.seeds)},
    )


def given(scope: Scope) -> dict[str, PaperNetwork]:
    """The parameters of a scope."""
    few = {} if scope.limit is None else {"n_digits": scope.few_digits, "n_delayed": 2}
    return {"params": PaperNetwork(neurons=scope.neurons, **few)}


def _in_words() -> str:
    """The paper's numbers."""
    return listed([f"{percent(one.mean)} ± {percent(one.std)}" for one in _PAPER.values() if one is not None])


EXHIBIT = Exhibit(
    title="The paper's own network, and what it leaves open",
    section=SUPPLEMENT,
    draw=draw,
    table=table,
    shows="The network of Table 1, with one open point settled differently in each row.",
    ran=lambda r: (
        f"trained on {r.n_train:,} training digits, scored on others: videos of {r.n_digits} digits ({r.n_delayed} "
        f"for fine steps and delays), {seeds_in_words(r.seeds)}."
    ),
    paper=f"{_in_words()} % on test digits.",
    run=run,
    given=given,
    seconds=900,
    only_full=True,
)
