"""Accuracy against how hard the noise is: an LSTM trained on the video, and the spiking network.

The paper says that noise is what the LSTM fails at. Here the noise has fewer or more pixels than the paper's, or looks
more and more like a digit.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import NoiseObject, Omnist, make_omnist
from springback.extras import is_installed
from springback.spiking.evaluation import follow_video
from springback.spiking.model import SpikingModel
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.streaming.wording import percent
from springback_paper.figures.exhibit import COMPARISON, Exhibit, seeds_in_words
from springback_paper.figures.style import BLACK, BLUE, RED, SKY, house_style, legend_above, note, with_errors
from springback_paper.figures.table import Table, stacked, tidy
from springback_paper.inputs.scrambled_noise import with_scrambled_noise
from springback_paper.run_scope import Scope
from springback_paper.wording import repeated

Answers = Callable[[Video], NDArray[np.int64]]
"""What a model says to each frame of a video."""

SAME, DEFAULT = "LSTM, trained on this noise", "LSTM, trained on the paper's noise"
ADAPTING, STATIC = "spiking, ST-STDP", "spiking, static at its best"
_AS_IN_THE_PAPER = NoiseObject().candidates
_TRAINING_SEEDS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class NoiseSweep:
    """What to run.

    Parameters
    ----------
    pixels : tuple[int, ...]
        How many pixels of the frame are drawn; the paper's 200 are always run, also drawn with replacement.
    scrambled : tuple[float, ...]
        Share of the pixels in random order, where the noise is a digit.
    n_train, n_test : int
        Digits of the videos that an LSTM learns from, and of those that are tested.
    passes, lanes : int
        Of the LSTM's training; see `SequenceTraining`.
    seeds : tuple[int, ...]
        Of digits, videos, an LSTM's first weights and the input spikes.
    """

    pixels: tuple[int, ...] = (0, 50, 100, 400, 784)
    scrambled: tuple[float, ...] = (1.0, 0.75, 0.5, 0.25, 0.0)
    n_train: int = 3000
    n_test: int = 200
    passes: int = 3
    lanes: int = 16
    seeds: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        check.sizes(self, n_train=1, n_test=1, passes=1, lanes=1)
        for name in ("scrambled", "seeds"):
            check.require(len(getattr(self, name)) > 0, f"NoiseSweep.{name}", "have at least one", ())


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseSweepResult:
    """Accuracy of each model with each noise.

    Parameters
    ----------
    pixels : tuple[str, ...]
        The noises of random pixels: how many are drawn.
    kept : tuple[float, ...]
        The noises made of digits: the share of a digit that is in its place.
    models : tuple[str, ...]
        What was run; without torch only the spiking network.
    all_frames, on_noise : NDArray[np.float64]
        Share of correct answers, (noises, models, seeds), first the noises of `pixels`, then those of `kept`.
    examples : NDArray[np.uint8]
        A frame of each noise.
    """

    pixels: tuple[str, ...]
    kept: tuple[float, ...]
    models: tuple[str, ...]
    all_frames: NDArray[np.float64]
    on_noise: NDArray[np.float64]
    examples: NDArray[np.uint8]
    seeds: tuple[int, ...]
    n_train: int
    n_test: int


class Noise(NamedTuple):
    """A kind of noise: its name on the axis, and the video of digits with it."""

    name: str
    video: Callable[[Images, int], Video]


def run(params: NoiseSweep, model: SpikingModel, train: Images, test: Images) -> NoiseSweepResult:
    """Every model on the video of the same digits with each noise, once for each seed."""
    by_pixels, by_likeness = noises(params)
    every = by_pixels + by_likeness
    models = ((SAME, DEFAULT) if is_installed("torch") else ()) + (ADAPTING, STATIC)
    right = np.empty((2, len(every), len(models), len(params.seeds)))
    examples = np.empty((len(every), 28, 28), np.uint8)
    for number, seed in enumerate(params.seeds):
        rng = np.random.default_rng([seed, 1])
        taught, tested = (
            images[rng.permutation(len(images))[:n]] for images, n in ((train, params.n_train), (test, params.n_test))
        )
        for row, (noise, answers) in enumerate(_answering(params, every, model, taught, seed)):
            video = noise.video(tested, seed)
            noisy = video.labels == NOISE_LABEL
            examples[row] = video.frames[np.flatnonzero(noisy)[0]]
            for place, name in enumerate(models):
                correct = answers[name](video) == video.labels
                right[:, row, place, number] = correct.mean(), correct[noisy].mean()
    return NoiseSweepResult(
        pixels=tuple(one.name for one in by_pixels),
        kept=tuple(1 - share for share in sorted(params.scrambled, reverse=True)),
        models=models,
        all_frames=right[0],
        on_noise=right[1],
        examples=examples,
        seeds=params.seeds,
        n_train=min(params.n_train, len(train)),
        n_test=min(params.n_test, len(test)),
    )


def noises(params: NoiseSweep) -> tuple[list[Noise], list[Noise]]:
    """The noises of random pixels, by their number, and those made of digits, the least digit-like first.

    Examples
    --------
    >>> [[one.name for one in some] for some in noises(NoiseSweep(pixels=(50,), scrambled=(0.25,)))]
    [['50', '200, repl.', '200'], ['75']]
    """

    def of_pixels(candidates: int, *, with_replacement: bool = False) -> Noise:
        noise = NoiseObject(candidates=candidates, with_replacement=with_replacement)
        name = f"{candidates}, repl." if with_replacement else f"{candidates}"
        return Noise(name, lambda images, seed: make_omnist(images, seed=seed, params=Omnist(noise=noise)))

    def of_digits(share: float) -> Noise:
        def video(images: Images, seed: int) -> Video:
            return with_scrambled_noise(make_omnist(images, seed=seed), images, share=share, seed=seed)

        return Noise(percent(1 - share, 0), video)

    by_pixels = [of_pixels(n) for n in sorted({*params.pixels, _AS_IN_THE_PAPER})]
    middle = [one.name for one in by_pixels].index(str(_AS_IN_THE_PAPER))
    by_pixels.insert(middle, of_pixels(_AS_IN_THE_PAPER, with_replacement=True))
    return by_pixels, [of_digits(share) for share in sorted(params.scrambled, reverse=True)]


def _answering(
    params: NoiseSweep, every: list[Noise], model: SpikingModel, taught: Images, seed: int
) -> Iterator[tuple[Noise, dict[str, Answers]]]:
    """Each noise with the models; LSTMs are trained on the way."""
    static = model.static()
    spiking: dict[str, Answers] = {
        ADAPTING: lambda video: follow_video(model, video, seed=seed).predicted,
        STATIC: lambda video: follow_video(static, video, adapts=False, seed=seed).predicted,
    }
    if not is_installed("torch"):
        yield from ((noise, spiking) for noise in every)
        return
    default = _train(params, make_omnist(taught, seed=seed + _TRAINING_SEEDS), seed)
    for noise in every:
        usual = noise.name == str(_AS_IN_THE_PAPER)
        same = default if usual else _train(params, noise.video(taught, seed + _TRAINING_SEEDS), seed)
        yield noise, {SAME: same, DEFAULT: default, **spiking}


def _train(params: NoiseSweep, video: Video, seed: int) -> Answers:
    from springback_paper.baselines import Lstm, SequenceTraining, classify, train_sequence

    training = SequenceTraining(passes=params.passes, lanes=params.lanes)
    trained = train_sequence(Lstm(seed=seed), video, training)
    return lambda shown: classify(trained, shown)


_LOOKS: dict[str, dict[str, Any]] = {
    SAME: {"color": BLACK, "marker": "o"},
    DEFAULT: {"color": RED, "marker": "^", "linestyle": "--"},
    ADAPTING: {"color": BLUE, "marker": "s"},
    STATIC: {"color": SKY, "marker": "D", "linestyle": "--"},
}


@house_style()
def draw(result: NoiseSweepResult) -> Figure:
    """On the left noise of random pixels, on the right noise made of digits; above all frames, below those of noise."""
    figure = Figure(figsize=(7.2, 5.2), layout="constrained")
    first, last = len(result.pixels), len(result.pixels) + len(result.kept)
    columns = {"pixels drawn (of 784)": slice(0, first), "share of a digit in its place (%)": slice(first, last)}
    names = (*result.pixels, *(percent(share, 0) for share in result.kept))
    widths = [max(len(result.pixels), 1), max(len(result.kept), 1)]
    panels = figure.subplots(3, 2, sharex="col", sharey="row", width_ratios=widths, height_ratios=[0.9, 2, 2])
    for column, (title, rows) in enumerate(columns.items()):
        shown = range(rows.stop - rows.start)
        _draw_examples(panels[0, column], result.examples[rows])
        for panel, values in zip(panels[1:, column], (result.all_frames, result.on_noise), strict=True):
            for place, model in enumerate(result.models):
                mean, std = over_seeds(100 * values[rows, place])
                with_errors(panel, shown, mean, std, label=model, **_LOOKS[model])
            if column == 0:
                panel.axvline(result.pixels.index(str(_AS_IN_THE_PAPER)), color="0.9", linewidth=8, zorder=0)
        panels[2, column].set_xticks(shown, names[rows], fontsize=8)
        panels[2, column].set_xlabel(title)
        panels[2, column].set_xlim(-0.5, len(shown) - 0.5)
    panels[1, 0].set_ylabel("all frames (%)")
    panels[2, 0].set_ylabel("noise frames (%)")
    for panel in panels[1:, 0]:
        panel.set_ylim(-3, 103)
    legend_above(figure, panels[1, 0], ncols=2)
    runs = f"{repeated(len(result.seeds), 'run')} with {result.n_test} test digits"
    note(figure, f"grey: the paper's noise · repl.: drawn with replacement · {runs}")
    return figure


def over_seeds(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation over the last axis; NaN for a single seed.

    Examples
    --------
    >>> over_seeds(np.array([[0.25, 0.75]]))
    (array([0.5]), array([0.35355339]))
    """
    std = values.std(axis=-1, ddof=1) if values.shape[-1] > 1 else np.full(values.shape[:-1], np.nan)
    return values.mean(axis=-1), std


def table(result: NoiseSweepResult) -> Table:
    """The accuracy of each model with each noise, on all frames and on those of noise."""
    noises_of = {
        "random pixels": ("pixels_drawn", result.pixels, slice(0, len(result.pixels))),
        "digits": ("share_in_place", result.kept, slice(len(result.pixels), None)),
    }
    panels = {}
    for panel, (column, names, rows) in noises_of.items():
        values: dict[str, Any] = {"seeds": len(result.seeds), "test_digits": result.n_test}
        for name, right in (("accuracy", result.all_frames), ("noise_accuracy", result.on_noise)):
            values[f"{name}_mean"], values[f"{name}_std"] = over_seeds(right[rows])
        panels[panel] = tidy({column: names, "model": result.models}, values)
    return stacked(panels)


def _draw_examples(panel: Axes, examples: NDArray[np.uint8]) -> None:
    """A frame of each noise above its place on the axis."""
    for place, frame in enumerate(examples):
        inset = panel.inset_axes((place - 0.45, 0, 0.9, 1), transform=panel.transData)
        inset.imshow(frame, cmap="gray_r", vmin=0, vmax=255)
        inset.set(xticks=[], yticks=[])
        inset.spines[:].set(visible=True, color="0.8")
    panel.set_axis_off()


def given(scope: Scope) -> dict[str, NoiseSweep]:
    """More seeds in a full run, fewer noises and digits in a quick look."""
    if scope.limit is None:
        return {"params": NoiseSweep(seeds=tuple(range(5 if scope.full else 1)))}
    n = min(scope.limit, 3000)
    small = NoiseSweep(
        pixels=(0, 784), scrambled=(1.0, 0.0), n_train=n, n_test=scope.few_digits, lanes=min(16, n // 2), seeds=(0,)
    )
    return {"params": small}


EXHIBIT = Exhibit(
    title="Accuracy against how hard the noise is",
    section=COMPARISON,
    draw=draw,
    table=table,
    shows=(
        "The video with other noise: fewer or more random pixels than the paper's, and digits whose pixels are partly "
        "in random order. The spiking network calls a frame noise when no neuron spikes; it learned from still digits."
    ),
    ran=lambda r: (
        f"{r.n_test} test digits for each noise, {seeds_in_words(r.seeds)}. Each LSTM learned from the video of only "
        f"{r.n_train:,} training digits, with Adam."
    ),
    paper="noise is what the LSTM fails at, and what the spiking network is best at; no values.",
    run=run,
    given=given,
    seconds=80,
    full_seconds=320,
)
