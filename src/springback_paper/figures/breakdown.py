"""Accuracy against how much is hidden, and on noise: what the two figures that show it share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback_paper.figures.fig_4a import colour_of
from springback_paper.figures.style import house_style, note
from springback_paper.figures.table import Table
from springback_paper.models import MODELS, STILL_LABELLED, STILL_UNLABELLED, VIDEO_LABELLED

NOISE = "noise"


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """What accuracies are broken down by.

    Parameters
    ----------
    key : str
        The table of results.json.
    column : str
        The column of the CSV file.
    places : Mapping[str, float]
        Where each group of frames is on the axis.
    label : str
        Of the axis.
    ticks : tuple[float, ...]
        Of the axis.
    """

    key: str
    column: str
    places: Mapping[str, float]
    label: str
    ticks: tuple[float, ...]

    @property
    def width(self) -> float:
        """From the first to the last place."""
        return max(self.places.values()) - min(self.places.values())


_PANELS = {
    "trained on still digits, without labels": (STILL_UNLABELLED,),
    "trained with labels": (STILL_LABELLED, VIDEO_LABELLED),
}
_DASHES = ("-", "--", "-.", ":", (0, (6, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("v", "^", "s", "P", "X", "<")
_LABEL_GAP = 5.6


@house_style()
def draw_breakdown(results: dict[str, Any], by: Breakdown) -> Figure:
    """One panel for models trained on still digits without labels, one for those trained with labels.

    Lines over what is hidden, each with its name; beside them the noise frames. The models this library is about are in
    colour, and stand in both panels in a paler line. Only models that were run are drawn, and no variants of models.
    """
    entries = _entries(results, by)
    figure = Figure(figsize=(7.2, 3.7), layout="constrained")
    panels = figure.subplots(1, 2 * len(_PANELS), sharey=True, width_ratios=[4.6, 1] * len(_PANELS))
    for number, (title, groups) in enumerate(_PANELS.items()):
        lines, noise = panels[2 * number], panels[2 * number + 1]
        shown = [model for model in MODELS if model in entries and MODELS[model].group in groups]
        for model in MODELS:
            if model in entries and model not in shown and MODELS[model].emphasised:
                _draw_line(lines, entries[model], by, color=colour_of(model), alpha=0.35, linewidth=1.0)
        _draw_models(lines, noise, shown, entries, by)
        lines.set_title(title, loc="left")
        left, right = min(by.places.values()) - 0.03 * by.width, max(by.places.values())
        lines.set_xlim(left, right + 0.63 * by.width)
        lines.set_xticks(by.ticks)
        lines.spines["bottom"].set_bounds(left, right + 0.03 * by.width)
        lines.set_xlabel(by.label, loc="left")
        noise.set_xticks([])
        noise.set_xlabel("noise")
        noise.set_xlim(-1.5, max(len(shown), 1) + 0.5)
        if number:
            lines.tick_params(axis="y", left=False)
        noise.spines["left"].set_color("0.8")
        noise.tick_params(axis="y", left=False)
    panels[0].set_ylim(0, 104)
    panels[0].set_ylabel("accuracy (%)")
    note(figure, "bars: std over seeds · pale: the models in colour of the other panel", size=8)
    return figure


def _draw_models(lines: Axes, noise: Axes, shown: Sequence[str], entries: dict[str, Any], by: Breakdown) -> None:
    looks: dict[str, dict[str, Any]] = {}
    plain = 0
    for model in shown:
        if MODELS[model].emphasised:
            looks[model] = {"color": colour_of(model), "marker": "o", "linewidth": 2.2, "linestyle": "-", "zorder": 3}
        else:
            dash, marker = _DASHES[plain % len(_DASHES)], _MARKERS[plain % len(_MARKERS)]
            looks[model] = {"color": "0.45", "marker": marker, "linewidth": 1.0, "linestyle": dash}
            plain += 1
    for place, model in enumerate(shown):
        _draw_line(lines, entries[model], by, markersize=3.5, **looks[model])
        stat = entries[model].get(NOISE)
        if stat is not None:
            look = {name: looks[model][name] for name in ("color", "marker")}
            mean, std = 100 * stat["mean"], 100 * stat["std"]
            noise.errorbar(place, mean, std, markersize=4, linestyle="none", elinewidth=0.8, **look)
    ends = {model: end for model in shown if (end := _end(entries[model], by)) is not None}
    for (model, (at, value)), height in zip(ends.items(), spread_out([end[1] for end in ends.values()]), strict=True):
        colour, (near, far, text) = looks[model]["color"], (at + share * by.width for share in (0.016, 0.063, 0.074))
        lines.plot([near, far], [value, height], color=colour, linewidth=0.6, clip_on=False)
        lines.text(text, height, _name(model), color=colour, fontsize=8, va="center")


def _name(model: str) -> str:
    about = MODELS[model]
    return f"{about.short_name}, video" if about.group == VIDEO_LABELLED else about.short_name


def _draw_line(panel: Axes, entry: dict[str, Any], by: Breakdown, **look: Any) -> None:
    groups = _groups(entry, by)
    mean, std = ([100 * entry[group][what] for group in groups] for what in ("mean", "std"))
    panel.errorbar([by.places[group] for group in groups], mean, std, elinewidth=0.8, **look)


def _end(entry: dict[str, Any], by: Breakdown) -> tuple[float, float] | None:
    groups = _groups(entry, by)
    return (by.places[groups[-1]], 100 * entry[groups[-1]]["mean"]) if groups else None


def _entries(results: dict[str, Any], by: Breakdown) -> dict[str, Any]:
    """What is shown of the table: all models of figures but the variants of others."""
    shown = {key for key, model in MODELS.items() if model.in_figures and not model.variant}
    return {model: entry for model, entry in results.get(by.key, {}).items() if model in shown}


def _groups(entry: dict[str, Any], by: Breakdown) -> list[str]:
    """The groups of frames that an entry has, noise apart, in the order of the axis."""
    return [group for group in by.places if group in entry]


def spread_out(
    heights: Sequence[float], *, gap: float = _LABEL_GAP, top: float = 101.0, bottom: float = 2.0
) -> list[float]:
    """Heights of labels near those of their lines, at least `gap` apart, from `bottom` to `top`, in the given order.

    Examples
    --------
    >>> spread_out([50.0, 90.0, 92.0], gap=6.0), spread_out([0.0, 1.0], gap=6.0)
    ([50.0, 88.0, 94.0], [2.0, 8.0])
    """

    def centre(block: list[int]) -> float:
        half = (len(block) - 1) * gap / 2
        return max(min(sum(heights[at] for at in block) / len(block), top - half), bottom + half)

    blocks: list[list[int]] = []
    for at in sorted(range(len(heights)), key=lambda at: -heights[at]):
        block = [at]
        while blocks and centre(blocks[-1]) - centre(block) < (len(blocks[-1]) + len(block)) * gap / 2:
            block = blocks.pop() + block
        blocks.append(block)
    placed = [0.0] * len(heights)
    for block in blocks:
        for place, at in enumerate(block):
            placed[at] = centre(block) + ((len(block) - 1) / 2 - place) * gap
    return placed


def breakdown_table(results: dict[str, Any], by: Breakdown) -> Table:
    """The accuracy of every model on every group of frames.

    Examples
    --------
    >>> rows = Breakdown(key="by_rows_hidden", column="rows_hidden", places={"0": 0.0}, label="rows", ticks=())
    >>> one = {"mean": 0.9, "std": 0.0, "n": 1, "values": [0.9]}
    >>> breakdown_table({"by_rows_hidden": {"elastic": {"0": one}}}, rows)["accuracy_mean"]
    [0.9]
    """
    entries = _entries(results, by)
    rows = [
        (model, group, stat)
        for model in MODELS
        if model in entries
        for group in (*_groups(entries[model], by), NOISE)
        if (stat := entries[model].get(group)) is not None
    ]
    return {
        "model": [model for model, _, _ in rows],
        "name": [MODELS[model].name for model, _, _ in rows],
        "trained_on": [MODELS[model].trained_on for model, _, _ in rows],
        by.column: [group for _, group, _ in rows],
        "accuracy_mean": [stat["mean"] for _, _, stat in rows],
        "accuracy_std": [stat["std"] for _, _, stat in rows],
        "seeds": [stat["n"] for _, _, stat in rows],
    }
