"""Accuracy against c, pull and intensity, one at a time around a preset, on videos of training digits.

No test digit is touched, and no digit of a video affected the labels of the neurons: they are labelled again with
other training digits. The weights, learned without labels, may have seen the digits of the videos; `trained_on` says
what the network was trained on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.spiking.evaluation import follow_video
from springback.spiking.fitting import label_model
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset
from springback.streaming.metrics import Score
from springback.streaming.records import Images, Video
from springback_paper.figures.exhibit import THEORY, Exhibit, seeds_in_words
from springback_paper.figures.style import BLACK, BLUE, GREEN, RED, house_style, legend_above, note, with_errors
from springback_paper.figures.table import Table, tidy
from springback_paper.run_scope import Scope
from springback_paper.wording import repeated

Floats = NDArray[np.float64]
Accuracies = dict[str, float]
"""Share of correct answers by group of frames: "all", then each number of rows hidden, then "noise"."""

PARAMETERS = ("weight_dependence", "pull", "intensity")


@dataclass(frozen=True, kw_only=True)
class ParameterSweeps:
    """What to run.

    The defaults, 17 points with a video of 100 digits for each of five seeds, take about a minute on one core.

    Parameters
    ----------
    weight_dependence, pull, intensity : tuple[float, ...]
        The values of each, while the other two stay at the preset's.
    n_digits : int
        Digits of each video, drawn from the training digits `first_digit` and later.
    n_labelling : int
        How many training digits, from the first one on, label the neurons.

    Examples
    --------
    >>> ParameterSweeps(n_labelling=60_000)
    Traceback (most recent call last):
    ValueError: ParameterSweeps.n_labelling must be <= 50000; got 60000
    """

    weight_dependence: tuple[float, ...] = (-2.0, -1.0, -0.5, -0.3, -0.165, 0.0, 1.0)
    pull: tuple[float, ...] = (0.01, 0.03, 0.06, 0.129, 0.25, 0.5)
    intensity: tuple[float, ...] = (2.0, 2.5, 2.9, 3.35, 4.0, 5.0)
    n_digits: int = 100
    first_digit: int = 50_000
    n_labelling: int = 10_000

    def __post_init__(self) -> None:
        for name in PARAMETERS:
            check.require(len(getattr(self, name)) > 0, f"ParameterSweeps.{name}", "have at least one value", ())
        check.sizes(self, n_digits=1)
        check.integer("ParameterSweeps.n_labelling", self.n_labelling, low=1, high=self.first_digit)


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterSweepsResult:
    """Accuracy of every point, mean and standard deviation over seeds.

    Parameters
    ----------
    parameters, values
        Which parameter a point changes, and to what, (points,).
    groups : tuple[str, ...]
        "all", the numbers of rows hidden, "noise".
    mean, std : Floats
        (points, groups); std is NaN with a single seed.
    at_preset : dict[str, float]
        The preset's value of each parameter.
    """

    parameters: tuple[str, ...]
    values: Floats
    groups: tuple[str, ...]
    mean: Floats
    std: Floats
    at_preset: dict[str, float]
    seeds: tuple[int, ...]
    n_digits: int
    trained_on: str
    labelled_with: str
    video_of: str


def run(
    params: ParameterSweeps, model: SpikingModel, train: Images, *, seeds: Sequence[int] = (0, 1, 2, 3, 4)
) -> ParameterSweepsResult:
    """Every point on the same videos, one for each seed, which also drives the input spikes."""
    digits = train[params.first_digit :]
    labelled = label_model(model, train[: params.n_labelling])
    at_preset = preset_values(model.preset)
    points = [(name, float(value)) for name in PARAMETERS for value in getattr(params, name)]
    known: dict[tuple[float, ...], list[Accuracies]] = {}
    rows = []
    for name, value in points:
        at = {**at_preset, name: value}
        place = tuple(at.values())
        if place not in known:
            known[place] = [point(labelled, draw_video(digits, params.n_digits, seed), at, seed=seed) for seed in seeds]
        rows.append(known[place])
    groups, mean, std = over_seeds(rows)
    return ParameterSweepsResult(
        parameters=tuple(name for name, _ in points),
        values=np.array([value for _, value in points]),
        groups=groups,
        mean=mean,
        std=std,
        at_preset=at_preset,
        seeds=tuple(int(seed) for seed in seeds),
        n_digits=params.n_digits,
        trained_on=model.data,
        labelled_with=f"training digits 0 ... {params.n_labelling - 1:,}",
        video_of=f"training digits {params.first_digit:,} ... {len(train) - 1:,}",
    )


def preset_values(preset: Preset) -> dict[str, float]:
    """The preset's own value of each parameter that is swept.

    Examples
    --------
    >>> from springback.spiking.presets import springback_2026
    >>> preset_values(springback_2026())
    {'weight_dependence': -0.165, 'pull': 0.129, 'intensity': 3.35}
    """
    return {
        "weight_dependence": preset.short_term.weight_dependence,
        "pull": preset.short_term.pull,
        "intensity": preset.streaming.intensity,
    }


def point(model: SpikingModel, video: Video, at: dict[str, float], *, seed: int) -> Accuracies:
    """The accuracies at one setting of c, pull and intensity; independent of every other point."""
    short_term = replace(model.preset.short_term, weight_dependence=at["weight_dependence"], pull=at["pull"])
    shown = replace(model.preset.streaming, intensity=at["intensity"])
    return by_group(follow_video(model.streaming_as(shown, short_term), video, seed=seed))


def draw_video(digits: Images, n_digits: int, seed: int) -> Video:
    """The video of `n_digits` of the digits, drawn without repetition; the seed drives the draw and the video.

    Examples
    --------
    >>> ten = Images(np.zeros((10, 28, 28), np.uint8), np.arange(10))
    >>> np.unique(draw_video(ten, 10, seed=0).labels).size
    11
    """
    check.integer("n_digits", n_digits, low=1, high=len(digits))
    chosen = np.random.default_rng([seed, n_digits]).choice(len(digits), n_digits, replace=False)
    return make_omnist(digits[chosen], seed=seed)


def by_group(score: Score) -> Accuracies:
    """The accuracies of a score by group of frames, that over all frames first."""
    return {"all": score.accuracy, **score.by_rows_hidden}


def over_seeds(points: Sequence[Sequence[Accuracies]]) -> tuple[tuple[str, ...], Floats, Floats]:
    """Names of the groups, and mean and standard deviation over seeds, (points, groups), of points[point][seed].

    Examples
    --------
    >>> over_seeds([[{"all": 0.25}, {"all": 0.75}]])
    (('all',), array([[0.5]]), array([[0.35355339]]))
    """
    groups = tuple(points[0][0])
    values = np.array([[[seed[group] for group in groups] for seed in one] for one in points])
    spread = values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.full(values[:, 0].shape, np.nan)
    return groups, values.mean(axis=1), spread


_AXIS = {"weight_dependence": "weight dependence c", "pull": "pull γ", "intensity": "input intensity"}
_LINES = {
    "0": ("nothing hidden", GREEN, "^"),
    "19": ("19 rows hidden", BLUE, "s"),
    "noise": ("noise", RED, "D"),
    "all": ("all frames", BLACK, "o"),
}


@house_style()
def draw(result: ParameterSweepsResult) -> Figure:
    """One panel for each parameter; accuracy of all, of unhidden, of the most hidden and of noise frames."""
    figure = Figure(figsize=(7.2, 2.9), layout="constrained")
    names = list(dict.fromkeys(result.parameters))
    panels: list[Axes] = list(figure.subplots(1, len(names), sharey=True, squeeze=False)[0])
    for panel, name in zip(panels, names, strict=True):
        rows = np.flatnonzero([one == name for one in result.parameters])
        draw_groups(panel, _LINES, result.groups, result.values[rows], result.mean[rows], result.std[rows])
        panel.axvline(result.at_preset[name], color="0.8", linewidth=6, zorder=0)
        panel.set_xlabel(_AXIS.get(name, name))
        if name == "pull":
            panel.set_xscale("log")
            panel.set_xticks(result.values[rows], [f"{value:g}" for value in result.values[rows]], fontsize=8)
            panel.minorticks_off()
    panels[0].set_ylabel("accuracy (%)")
    panels[0].set_ylim(None, 102)
    legend_above(figure, panels[0], ncols=4)
    note(figure, f"grey: the preset · {repeated(len(result.seeds), 'video')} of {result.n_digits} training digits")
    return figure


def draw_groups(
    panel: Axes,
    lines: Mapping[str, tuple[str, str, str]],
    groups: tuple[str, ...],
    x: Floats,
    mean: Floats,
    std: Floats,
) -> None:
    """A line, in percent, for each kind of frame: {group: (label, colour, marker)}; that of all frames is thickest."""
    for group, (label, colour, marker) in lines.items():
        column, width = groups.index(group), 2 if group == "all" else 1.2
        look = {"color": colour, "marker": marker, "linewidth": width, "label": label}
        with_errors(panel, x, 100 * mean[:, column], 100 * std[:, column], **look)


def given(scope: Scope) -> dict[str, ParameterSweeps]:
    """More digits in a full run, fewer in a quick look."""
    if scope.limit is None:
        return {"params": ParameterSweeps(n_digits=scope.few_digits)}
    kept = scope.limit * 3 // 4
    return {"params": ParameterSweeps(n_digits=scope.few_digits, first_digit=kept, n_labelling=kept)}


def table(result: ParameterSweepsResult) -> Table:
    """The accuracy at every point on every kind of frame: all, those with a number of rows hidden, and noise."""
    at = {"parameter": np.array(result.parameters)[:, None], "value": result.values[:, None]}
    places = {"point": range(len(result.values)), "frames": result.groups}
    return tidy(places, {**at, "accuracy_mean": result.mean, "accuracy_std": result.std, **videos_of(result)})


def videos_in_words(result: Any) -> str:
    """What a mean and its deviation are over, as it stands in a caption."""
    return (
        f"mean and standard deviation over {len(result.seeds)} videos ({seeds_in_words(result.seeds)}), each of "
        f"{result.n_digits:,} digits"
    )


def videos_of(result: Any) -> dict[str, int]:
    """How many videos a mean is over, and of how many digits each: two columns of a table."""
    return {"videos": len(result.seeds), "digits_of_a_video": result.n_digits}


EXHIBIT = Exhibit(
    title="Accuracy against c, pull and intensity",
    section=THEORY,
    draw=draw,
    table=table,
    shows="One parameter of ST-STDP at a time, the others as in the preset.",
    ran=lambda r: f"{videos_in_words(r)} of {r.video_of}; neurons labelled with {r.labelled_with}.",
    paper="not shown; c and the intensity are not given.",
    run=run,
    given=given,
    seconds=40,
    full_seconds=400,
)
