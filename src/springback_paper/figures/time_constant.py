"""What the time constant of short-term plasticity trades: highly occluded frames against noise.

Supplement, "Short-term memory in ST-STDP vs RNN and LSTM": a longer time constant serves highly occluded frames, a
shorter one keeps noise from being taken for the digit before it. Both models see the same videos and nothing else is
changed: the spiking circuit over `memory_ms`, elastic clustering over its `memory` in frames, with the noise
threshold that was set at its own memory. The spread over seeds is that of videos and spikes; each model is learned
once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.elastic import Elasticity, Exponential, Model, prepare
from springback.spiking.evaluation import follow_video
from springback.spiking.model import SpikingModel
from springback.streaming import metrics, readout
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.parameters import (
    Accuracies,
    by_group,
    draw_groups,
    draw_video,
    over_seeds,
    videos_in_words,
    videos_of,
)
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, house_style, legend_above
from springback_paper.figures.table import Table, stacked, tidy
from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.run_scope import Scope
from springback_paper.tasks.elastic import fit, follow, noise_threshold
from springback_paper.wording import repeated

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class TimeConstant:
    """What to run.

    Parameters
    ----------
    memory_ms : tuple[float, ...]
        Time constants of the spiking circuit.
    memory_frames : tuple[float, ...]
        Time constants of elastic clustering, in frames.
    n_digits : int
        Digits of each video.
    elastic : ElasticOmnist
        Elastic clustering at its own memory; its centroids and its threshold come from still images.
    n_practice : int
        How many of the still images, the last ones, make the video that sets its threshold.

    Examples
    --------
    >>> TimeConstant(memory_ms=(0.0,))
    Traceback (most recent call last):
    ValueError: TimeConstant.memory_ms must be > 0; got 0.0
    """

    memory_ms: tuple[float, ...] = (87.5, 175.0, 350.0, 610.0, 875.0, 1400.0, 2800.0, 5600.0)
    memory_frames: tuple[float, ...] = (0.125, 0.25, 0.5, 1.1, 2.0, 4.0, 8.0, 16.0)
    n_digits: int = 100
    elastic: ElasticOmnist = field(default_factory=ElasticOmnist)
    n_practice: int = 1000

    def __post_init__(self) -> None:
        for name in ("memory_ms", "memory_frames"):
            check.require(len(getattr(self, name)) > 0, f"TimeConstant.{name}", "have at least one value", ())
            for value in getattr(self, name):
                check.real(f"TimeConstant.{name}", value, above=0)
        check.sizes(self, n_digits=1, n_practice=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeConstantResult:
    """Accuracy against the time constant, mean and standard deviation over seeds.

    Parameters
    ----------
    groups : tuple[str, ...]
        "all", the numbers of rows hidden, "noise".
    spiking_frames, elastic_frames : Floats
        Time constants in frames, (points,).
    spiking_mean, spiking_std : Floats
        (points, groups); std is NaN with a single seed.
    elastic_mean, elastic_std : Floats
        The same.
    spiking_preset_frames, elastic_preset_frames : float
        The time constants the models normally have.
    frame_ms : float
        How long the spiking circuit is shown a frame.
    """

    groups: tuple[str, ...]
    spiking_frames: Floats
    spiking_mean: Floats
    spiking_std: Floats
    spiking_preset_frames: float
    elastic_frames: Floats
    elastic_mean: Floats
    elastic_std: Floats
    elastic_preset_frames: float
    frame_ms: float
    seeds: tuple[int, ...]
    n_digits: int


def run(
    params: TimeConstant,
    model: SpikingModel,
    train: Images,
    test: Images,
    *,
    seeds: Sequence[int] = (0, 1, 2, 3, 4),
) -> TimeConstantResult:
    """Both models on the videos of `n_digits` of the digits, one video for each seed.

    Parameters
    ----------
    train : Images
        Still images; elastic clustering finds and names its centroids with them.
    test : Images
        Others, which make the videos.
    """
    readout.refuse_overlap(train, test)
    videos = [(seed, draw_video(test, params.n_digits, seed)) for seed in seeds]
    spiking = [[spiking_point(model, video, tau, seed=seed) for seed, video in videos] for tau in params.memory_ms]
    fitted = fit_elastic(params.elastic, train, n_practice=params.n_practice, seed=seeds[0])
    elastic = [[elastic_point(fitted, video, memory) for _, video in videos] for memory in params.memory_frames]
    groups, spiking_mean, spiking_std = over_seeds(spiking)
    _, elastic_mean, elastic_std = over_seeds(elastic)
    preset = model.preset
    frame_ms = preset.streaming.show_ms + preset.streaming.rest_ms
    return TimeConstantResult(
        groups=groups,
        spiking_frames=np.array(params.memory_ms) / frame_ms,
        spiking_mean=spiking_mean,
        spiking_std=spiking_std,
        spiking_preset_frames=float(np.mean(preset.short_term.memory_ms)) / frame_ms,
        elastic_frames=np.array(params.memory_frames),
        elastic_mean=elastic_mean,
        elastic_std=elastic_std,
        elastic_preset_frames=params.elastic.memory,
        frame_ms=frame_ms,
        seeds=tuple(int(seed) for seed in seeds),
        n_digits=params.n_digits,
    )


def spiking_point(model: SpikingModel, video: Video, tau_ms: float, *, seed: int) -> Accuracies:
    """The accuracies of the spiking circuit at one time constant; independent of every other point."""
    short_term = replace(model.preset.short_term, memory_ms=tau_ms)
    return by_group(follow_video(model.streaming_as(short_term=short_term), video, seed=seed))


class FittedElastic(NamedTuple):
    """Elastic clustering before the video.

    Its resting centroids (K, n), the label shares of each, and the cosine similarity below which a frame is noise.
    """

    params: ElasticOmnist
    resting: NDArray[np.float32]
    label_shares: Floats
    threshold: float


def fit_elastic(params: ElasticOmnist, still: Images, *, n_practice: int, seed: int) -> FittedElastic:
    """Find the centroids without labels, name them, and set the threshold at the model's own memory.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> two = Images(np.repeat(rng.integers(0, 255, (2, 28, 28), np.uint8), 30, axis=0), np.repeat([0, 1], 30))
    >>> fit_elastic(ElasticOmnist(n_clusters=2), two, n_practice=5, seed=0).label_shares.max(axis=1) > 0.9
    array([ True,  True])
    """
    named, resting = fit(params, still, seed)
    shares = np.zeros((params.n_clusters, readout.N_CLASSES))
    shares[:, named.classes_] = named.label_shares_
    fitted = FittedElastic(params, resting, shares, -1.0)
    practice = make_practice(still, n_practice, seed)
    threshold = noise_threshold(elastic_model(fitted, params.memory), shares, practice, params.power)
    return fitted._replace(threshold=threshold)


def make_practice(still: Images, n_practice: int, seed: int) -> Video:
    """The video of the last still images that sets the threshold; its seed is never that of a video that is scored."""
    last = still[max(len(still) - n_practice, 0) :]
    return draw_video(last, len(last), seed + 1_000_000)


def elastic_point(fitted: FittedElastic, video: Video, memory: float) -> Accuracies:
    """The accuracies of elastic clustering at one memory, in frames; independent of every other point."""
    label, similarity = follow(elastic_model(fitted, memory), fitted.label_shares, video, fitted.params.power)
    predicted = np.where(similarity < fitted.threshold, NOISE_LABEL, label)
    return {"all": metrics.accuracy(predicted, video.labels), **metrics.accuracy_by_rows(predicted, video)}


def elastic_model(fitted: FittedElastic, memory: float) -> Model:
    """Elastic clustering with another memory and all else as it was."""
    params = fitted.params
    elasticity = Elasticity(
        kappa=params.kappa, pull=params.pull, beta=params.beta, kernel=Exponential(memory=memory)
    )  # fmt: skip
    return prepare(elasticity, fitted.resting)


_LINES = {
    "0": ("nothing hidden", GREEN, "^"),
    "15": ("15 rows hidden", ORANGE, "v"),
    "19": ("19 rows hidden", BLUE, "s"),
    "noise": ("noise", RED, "D"),
    "all": ("all frames", BLACK, "o"),
}


@house_style()
def draw(result: TimeConstantResult) -> Figure:
    """The spiking circuit on the left, elastic clustering on the right; time constants in frames on both."""
    figure = Figure(figsize=(7.2, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    titles = {"spiking": "spiking circuit, short-term STDP", "elastic": "elastic clustering"}
    for panel, (model, title) in zip((left, right), titles.items(), strict=True):
        frames, mean, std, usual = (
            getattr(result, f"{model}_{what}") for what in ("frames", "mean", "std", "preset_frames")
        )
        draw_groups(panel, _LINES, result.groups, frames, mean, std)
        panel.axvline(usual, color="0.8", linewidth=6, zorder=0)
        panel.set_xscale("log", base=2)
        panel.set_xticks([0.125, 0.25, 0.5, 1, 2, 4, 8, 16], ["1/8", "1/4", "1/2", "1", "2", "4", "8", "16"])
        panel.minorticks_off()
        panel.set_title(title, loc="left")
    left.set_ylabel("accuracy (%)")
    left.set_ylim(0, 103)
    legend_above(figure, left, ncols=5, columnspacing=1.2)
    figure.supxlabel(
        f"time constant (frames; one frame is {result.frame_ms:g} ms)  ·  grey: the usual one  ·  "
        f"{repeated(len(result.seeds), 'video')} of {result.n_digits} digits",
        fontsize=8,
    )
    return figure


def given(scope: Scope) -> dict[str, TimeConstant]:
    """Fewer digits in a quick look."""
    n_practice = 1000 if scope.limit is None else max(2, scope.limit // 10)
    elastic = ElasticOmnist(n_clusters=scope.neurons)
    return {"params": TimeConstant(n_digits=scope.few_digits, elastic=elastic, n_practice=n_practice)}


def table(result: TimeConstantResult) -> Table:
    """The accuracy of both models at every time constant on every kind of frame."""
    panels = {}
    for model in ("spiking", "elastic"):
        frames, mean, std = (getattr(result, f"{model}_{what}") for what in ("frames", "mean", "std"))
        numbers = {"accuracy_mean": mean, "accuracy_std": std, **videos_of(result)}
        panels[model] = tidy({"time_constant_frames": frames, "frames": result.groups}, numbers)
    return stacked(panels)


EXHIBIT = Exhibit(
    title="Time constant: occluded frames against noise",
    section=THEORY,
    draw=draw,
    table=table,
    shows="A longer memory serves highly occluded frames and hurts noise.",
    ran=lambda r: f"{videos_in_words(r)} of the test set; nothing else is tuned again.",
    paper="said in words in the supplement.",
    run=run,
    given=given,
    seconds=40,
    full_seconds=250,
)
