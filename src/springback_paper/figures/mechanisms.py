"""What each mechanism of the spiking circuit brings on the video: one is taken away or added, all else stays.

Nothing is tuned again after a change, so a loss says how much this setting relies on the mechanism, not how well the
best circuit without it would do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking.evaluation import follow_video
from springback.spiking.model import SpikingModel
from springback.spiking.params import IntrinsicPlasticity, ShortTermStdp, Streaming
from springback.spiking.presets import Preset
from springback.streaming.records import Images, Video
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.parameters import Accuracies, by_group, draw_video, over_seeds, videos_in_words, videos_of
from springback_paper.figures.style import BLUE, house_style
from springback_paper.figures.table import Table, tidy
from springback_paper.wording import repeated

Floats = NDArray[np.float64]

REFERENCE = "the preset"


@dataclass(frozen=True, kw_only=True)
class Mechanisms:
    """What to run.

    Parameters
    ----------
    n_digits : int
        Digits of each video.
    tau_spread : float
        Standard deviation of the logarithm of the time constants, where neurons have one each.
    intrinsic : IntrinsicPlasticity
        The excitability of the soma, where it is added.
    delay_ms : float
        How long a neuron is active before it is pulled, where that is added.

    Examples
    --------
    >>> Mechanisms(tau_spread=-1.0)
    Traceback (most recent call last):
    ValueError: Mechanisms.tau_spread must be >= 0; got -1.0
    """

    n_digits: int = 100
    tau_spread: float = 0.3
    intrinsic: IntrinsicPlasticity = field(default_factory=IntrinsicPlasticity)
    delay_ms: float = 450.0

    def __post_init__(self) -> None:
        check.sizes(self, n_digits=1)
        check.real("Mechanisms.tau_spread", self.tau_spread, low=0)
        check.real("Mechanisms.delay_ms", self.delay_ms, low=0)


@dataclass(frozen=True, kw_only=True, eq=False)
class MechanismsResult:
    """Accuracy of every variant, mean and standard deviation over seeds.

    std and gain_error are NaN with a single seed.

    Parameters
    ----------
    variants : tuple[str, ...]
        Names, the static circuit first, then the preset.
    groups : tuple[str, ...]
        "all", the numbers of rows hidden, "noise".
    mean, std : Floats
        (variants, groups).
    gain, gain_error : Floats
        Difference to the preset on the same video: mean and standard error over seeds, (variants, groups).
    """

    variants: tuple[str, ...]
    groups: tuple[str, ...]
    mean: Floats
    std: Floats
    gain: Floats
    gain_error: Floats
    seeds: tuple[int, ...]
    n_digits: int
    trained_on: str


class Variant(NamedTuple):
    """How frames are shown, and the short-term plasticity; None: the network is static."""

    streaming: Streaming
    short_term: ShortTermStdp | None


def variants_of(params: Mechanisms, preset: Preset, *, seed: int) -> dict[str, Variant]:
    """Every variant by name; the seed draws the time constants of single neurons.

    Examples
    --------
    >>> from springback.spiking.presets import springback_2026
    >>> list(variants_of(Mechanisms(), springback_2026(), seed=0))[:3]
    ['static, otherwise the same', 'static, at its own best', 'the preset']
    """
    shown, unshifted = preset.streaming, replace(preset.streaming, threshold_shift_mv=0.0)
    full = replace(preset.short_term, memory_ms=float(np.mean(preset.short_term.memory_ms)))
    factor = np.exp(params.tau_spread * np.random.default_rng([seed, 1]).standard_normal(preset.circuit.n_neurons))
    uncapped = replace(full, efficacy_max=None)
    reverse = replace(params.intrinsic, step_mv=-params.intrinsic.step_mv)
    delayed = full.delay_ms is not None
    return {
        "static, otherwise the same": Variant(shown, None),
        "static, at its own best": Variant(preset.static, None),
        REFERENCE: Variant(shown, full),
        "no weight dependence": Variant(shown, replace(full, weight_dependence=1.0)),
        "no cap on the efficacy": Variant(shown, uncapped),
        "no threshold shift": Variant(unshifted, full),
        "no cap, no shift": Variant(unshifted, uncapped),
        "intrinsic plasticity added": Variant(shown, replace(full, intrinsic=params.intrinsic)),
        "intrinsic plasticity alone": Variant(shown, replace(full, pull=0.0, intrinsic=params.intrinsic)),
        "intrinsic plasticity, opposite sign": Variant(shown, replace(full, intrinsic=reverse)),
        "no delay of the pull" if delayed else "delay of the pull added": Variant(
            shown, replace(full, delay_ms=None if delayed else params.delay_ms)
        ),
        "a time constant per neuron": Variant(shown, replace(full, memory_ms=full.memory_ms * factor)),
    }


def run(
    params: Mechanisms, model: SpikingModel, test: Images, *, seeds: Sequence[int] = (0, 1, 2, 3, 4)
) -> MechanismsResult:
    """Every variant on the same videos of `n_digits` of the digits, one for each seed, which also drives the spikes."""
    videos = [(seed, draw_video(test, params.n_digits, seed)) for seed in seeds]
    names = list(variants_of(params, model.preset, seed=seeds[0]))
    points = [
        [point(model, video, variants_of(params, model.preset, seed=seed)[name], seed=seed) for seed, video in videos]
        for name in names
    ]
    groups, mean, std = over_seeds(points)
    reference = points[names.index(REFERENCE)]
    differences = [
        [{group: one[group] - other[group] for group in groups} for one, other in zip(row, reference, strict=True)]
        for row in points
    ]
    _, gain, gain_std = over_seeds(differences)
    return MechanismsResult(
        variants=tuple(names),
        groups=groups,
        mean=mean,
        std=std,
        gain=gain,
        gain_error=gain_std / np.sqrt(len(seeds)),
        seeds=tuple(int(seed) for seed in seeds),
        n_digits=params.n_digits,
        trained_on=model.data,
    )


def point(model: SpikingModel, video: Video, variant: Variant, *, seed: int) -> Accuracies:
    """The accuracies of one variant on one video; independent of every other point."""
    adapts = variant.short_term is not None
    return by_group(follow_video(model.streaming_as(*variant), video, adapts=adapts, seed=seed))


_PANELS = {"all": "all frames", "0": "nothing hidden", "19": "19 rows hidden", "noise": "noise"}


@house_style()
def draw(result: MechanismsResult) -> Figure:
    """A row for each variant, a panel for each kind of frame; a line marks the preset in every panel."""
    n = len(result.variants)
    figure = Figure(figsize=(7.2, 0.29 * n + 0.9), layout="constrained")
    panels: list[Axes] = list(figure.subplots(1, len(_PANELS), sharey=True, width_ratios=[1.6, 1, 1, 1]))
    places = np.arange(n)
    preset = result.variants.index(REFERENCE)
    colours = [BLUE if place == preset else "0.35" for place in places]
    for panel, (group, title) in zip(panels, _PANELS.items(), strict=True):
        column = result.groups.index(group)
        mean, std = 100 * result.mean[:, column], 100 * result.std[:, column]
        panel.axvline(mean[preset], color=BLUE, linewidth=0.8, alpha=0.5, zorder=0)
        panel.hlines(places, mean - std, mean + std, colors=colours, linewidth=1.2)
        panel.scatter(mean, places, c=colours, s=16, zorder=3)
        panel.set_title(title, loc="left")
        panel.margins(x=0.12)
        panel.grid(axis="x", color="0.92")
        panel.set_axisbelow(True)
        panel.tick_params(axis="y", length=0)
    first = panels[0]
    left, right = first.get_xlim()
    for place, value in zip(places, 100 * result.mean[:, result.groups.index("all")], strict=True):
        inside = value < (left + right) / 2
        first.annotate(
            f"{value:.1f}",
            (value, place),
            xytext=(14 if inside else -14, 0),
            textcoords="offset points",
            ha="left" if inside else "right",
            va="center",
            fontsize=8,
            color=colours[place],
        )
    first.set_yticks(places, result.variants)
    first.get_yticklabels()[preset].set_color(BLUE)
    first.invert_yaxis()
    figure.supxlabel(f"accuracy (%), {repeated(len(result.seeds), 'video')} of {result.n_digits} digits", fontsize=8)
    return figure


def table(result: MechanismsResult) -> Table:
    """The accuracy of every variant on every kind of frame, and its difference to the preset on the same videos."""
    numbers = {
        "accuracy_mean": result.mean,
        "accuracy_std": result.std,
        "difference_mean": result.gain,
        "difference_standard_error": result.gain_error,
    }
    return tidy({"variant": result.variants, "frames": result.groups}, {**numbers, **videos_of(result)})


EXHIBIT = Exhibit(
    title="What each mechanism brings",
    section=THEORY,
    draw=draw,
    table=table,
    shows="One mechanism taken away or added, all else as it was.",
    ran=lambda r: f"{videos_in_words(r)} of the test set.",
    paper="intrinsic plasticity and several time constants are named, not simulated.",
    run=run,
    given=lambda scope: {"params": Mechanisms(n_digits=scope.few_digits)},
    seconds=30,
    full_seconds=300,
)
