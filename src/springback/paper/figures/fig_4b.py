"""Fig. 4b: accuracy against how much of the digit is hidden, and on noise."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback.paper.figures.exhibit import COMPARISON, Exhibit, models_run
from springback.paper.figures.fig_4a import colour_of
from springback.paper.figures.style import house_style, note
from springback.paper.models import MODELS, STILL_LABELLED, STILL_UNLABELLED, VIDEO_LABELLED

_PANELS = {
    "trained on still digits, without labels": (STILL_UNLABELLED,),
    "trained with labels": (STILL_LABELLED, VIDEO_LABELLED),
}
_DASHES = ("-", "--", "-.", ":", (0, (6, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("v", "^", "s", "P", "X", "<")
_LABEL_GAP = 5.6


@house_style()
def draw(results: dict[str, Any]) -> Figure:
    """One panel for models trained on still digits without labels, one for those trained with labels.

    Lines over rows hidden, each with its name; beside them the noise frames. The models this library is about are in
    colour, and stand in both panels in a paler line.

    Parameters
    ----------
    results : dict[str, Any]
        What results.json holds; only models that were run are drawn, and no variants of models.

    Examples
    --------
    >>> one = {"mean": 0.9, "std": 0.0, "n": 1, "values": [0.9]}
    >>> len(draw({"by_rows_hidden": {"elastic": {"0": one, "19": one, "noise": one}}}).axes)
    4
    """
    every = results.get("by_rows_hidden", {})
    entries = {model: entry for model, entry in every.items() if not MODELS[model].variant}
    figure = Figure(figsize=(7.2, 3.7), layout="constrained")
    panels = figure.subplots(1, 2 * len(_PANELS), sharey=True, width_ratios=[4.6, 1] * len(_PANELS))
    for number, (title, groups) in enumerate(_PANELS.items()):
        lines, noise = panels[2 * number], panels[2 * number + 1]
        shown = [model for model in MODELS if model in entries and MODELS[model].group in groups]
        for model in MODELS:
            if model in entries and model not in shown and MODELS[model].emphasised:
                _draw_line(lines, entries[model], color=colour_of(model), alpha=0.35, linewidth=1.0)
        _draw_models(lines, noise, shown, entries)
        lines.set_title(title, loc="left")
        lines.set_xlim(-0.6, 31)
        lines.set_xticks([0, 3, 6, 9, 12, 15, 18])
        lines.spines["bottom"].set_bounds(-0.6, 19.5)
        lines.set_xlabel("rows hidden (of 28)", loc="left")
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


def _draw_models(lines: Axes, noise: Axes, shown: Sequence[str], entries: dict[str, Any]) -> None:
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
        _draw_line(lines, entries[model], markersize=3.5, **looks[model])
        stat = entries[model].get("noise")
        if stat is not None:
            look = {name: looks[model][name] for name in ("color", "marker")}
            mean, std = 100 * stat["mean"], 100 * stat["std"]
            noise.errorbar(place, mean, std, markersize=4, linestyle="none", elinewidth=0.8, **look)
    ends = {model: end for model in shown if (end := _end(entries[model])) is not None}
    for (model, (row, value)), height in zip(ends.items(), spread_out([end[1] for end in ends.values()]), strict=True):
        colour = looks[model]["color"]
        lines.plot([row + 0.3, row + 1.2], [value, height], color=colour, linewidth=0.6, clip_on=False)
        lines.text(row + 1.4, height, _name(model), color=colour, fontsize=8, va="center")


def _name(model: str) -> str:
    about = MODELS[model]
    return f"{about.short_name}, video" if about.group == VIDEO_LABELLED else about.short_name


def _draw_line(panel: Axes, entry: dict[str, Any], **look: Any) -> None:
    rows = sorted(int(key) for key in entry if key != "noise")
    mean, std = ([100 * entry[str(row)][what] for row in rows] for what in ("mean", "std"))
    panel.errorbar(rows, mean, std, elinewidth=0.8, **look)


def _end(entry: dict[str, Any]) -> tuple[int, float] | None:
    rows = [int(key) for key in entry if key != "noise"]
    return (max(rows), 100 * entry[str(max(rows))]["mean"]) if rows else None


def spread_out(heights: Sequence[float], *, gap: float = _LABEL_GAP, top: float = 101.0) -> list[float]:
    """Heights of labels near those of their lines, at least `gap` apart and not above `top`, in the given order.

    Examples
    --------
    >>> spread_out([50.0, 90.0, 92.0], gap=6.0)
    [50.0, 88.0, 94.0]
    """

    def centre(block: list[int]) -> float:
        return min(sum(heights[at] for at in block) / len(block), top - (len(block) - 1) * gap / 2)

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


EXHIBIT = Exhibit(
    title="Fig. 4b: accuracy against occlusion, and on noise",
    section=COMPARISON,
    draw=draw,
    shows="The same frames by how many rows of the digit are hidden, and the noise frames.",
    ran=models_run,
    paper="the five models of its Fig. 4; it gives the curves but no numbers.",
)
