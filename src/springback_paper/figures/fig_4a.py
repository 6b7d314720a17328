"""Fig. 4a: accuracy of every model on OMNIST, ours beside the paper's, with the qualities of each."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback_paper.figures.exhibit import COMPARISON, Exhibit, models_run
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, house_style, note
from springback_paper.figures.table import Table
from springback_paper.models import GROUPS, MODELS, QUALITIES
from springback_paper.wording import spread

_COLOURS = {"spiking_st_stdp": BLUE, "elastic": RED, "cnn_elastic": GREEN}
_AT_RIGHT: dict[str, Any] = {"ha": "right", "va": "center", "fontsize": 8}


def colour_of(model: str, otherwise: str = "0.3") -> str:
    """Colour of an emphasised model; the others are grey."""
    return _COLOURS.get(model, ORANGE) if MODELS[model].emphasised else otherwise


@house_style()
def draw(results: dict[str, Any]) -> Figure:
    """Dots with standard deviations, a diamond for the paper's number, and a table of qualities.

    Parameters
    ----------
    results : dict[str, Any]
        What results.json holds; a model that neither we nor the paper ran is left out.

    Examples
    --------
    >>> one = {"mean": 0.9, "std": 0.0, "n": 1, "values": [0.9]}
    >>> len(draw({"omnist_test": {"elastic": one}}).axes)
    2
    """
    ours, paper = results.get("omnist_test", {}), results.get("paper", {}).get("omnist_test", {})
    shown = shown_models(results)
    figure = Figure(figsize=(7.2, 0.27 * max(len(shown), 4) + 1.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=[2.5, 1])
    for place, model in enumerate(shown):
        _draw_model(left, place, ours.get(model), paper.get(model), colour_of(model))
        _draw_qualities(right, place, model)
    _draw_groups((left, right), shown)
    left.set_yticks(range(len(shown)), [MODELS[model].short_name for model in shown])
    for place, model in enumerate(shown):
        left.get_yticklabels()[place].set_color(colour_of(model, BLACK))
    left.set_ylim(len(shown) - 0.4, -0.6)
    lowest = min((table[model]["mean"] for table in (ours, paper) for model in shown if model in table), default=0)
    least = max(100 * lowest - 14, -5)
    left.set_xlim(least, 101 + 0.3 * (101 - least))  # the numbers stand to the right of all dots
    left.set_xticks([tick for tick in left.get_xticks() if 0 <= tick <= 100])
    left.set_xlabel("accuracy on OMNIST (%)")
    left.grid(axis="x", color="0.93")
    left.set_axisbelow(True)
    left.plot([], [], "o", markersize=4.5, color="0.3", label="ours, mean and std")
    left.plot([], [], "D", markersize=4.5, color=ORANGE, markerfacecolor="white", label="the paper")
    left.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8, handletextpad=0.2)
    note(
        figure,
        "half: noise frames beside still digits; spikes out but not in. "
        "Single settings, such as thresholds, were chosen on videos of training digits.",
        size=7,
    )
    right.set_xlim(-0.6, len(QUALITIES) - 0.4)
    right.set_xticks(range(len(QUALITIES)), QUALITIES, rotation=50, ha="left", fontsize=8)
    right.tick_params(axis="x", top=True, bottom=False, labeltop=True, labelbottom=False, length=0, pad=1)
    right.spines[["left", "bottom"]].set_visible(False)
    for panel in (left, right):
        panel.tick_params(axis="y", length=0)
    right.tick_params(axis="y", labelleft=False)
    return figure


def _draw_model(
    panel: Axes, place: int, ours: dict[str, Any] | None, paper: dict[str, Any] | None, colour: str
) -> None:
    if paper is not None:
        panel.errorbar(
            100 * paper["mean"],
            place + 0.18,
            xerr=100 * paper["std"],
            marker="D",
            markersize=4.5,
            color=ORANGE,
            markerfacecolor="white",
            elinewidth=1.0,
        )
    if ours is None:
        panel.annotate("not run", (1, place), xycoords=("axes fraction", "data"), **_AT_RIGHT, color="0.5")
        return
    look: dict[str, Any] = {"marker": "o", "markersize": 4.5, "color": colour, "elinewidth": 1.2}
    panel.errorbar(100 * ours["mean"], place - 0.1, xerr=100 * ours["std"], **look)
    panel.annotate(spread(ours, digits=1), (1, place), xycoords=("axes fraction", "data"), **_AT_RIGHT, color=colour)


def _draw_qualities(panel: Axes, place: int, model: str) -> None:
    about = MODELS[model]
    for column, quality in enumerate(QUALITIES):
        look: dict[str, Any] = {"color": "0.8", "markersize": 2}
        if quality in about.qualities | about.partly:
            fill = "full" if quality in about.qualities else "left"
            look = {"color": colour_of(model), "markersize": 5.5, "fillstyle": fill, "markerfacecoloralt": "white"}
        panel.plot(column, place, marker="o", linestyle="none", markeredgewidth=0.8, **look)


def _draw_groups(panels: tuple[Axes, Axes], shown: list[str]) -> None:
    """A line between groups, and what a group was trained on at the left edge of the panel of accuracies."""
    start = 0
    for group in GROUPS:
        size = sum(MODELS[model].group == group for model in shown)
        if size == 0:
            continue
        if start > 0:
            for panel in panels:
                panel.axhline(start - 0.5, color="0.8", linewidth=0.8)
        panels[0].annotate(
            group.replace(", ", ",\n"),
            (0.01, start - 0.42),
            xycoords=("axes fraction", "data"),
            va="top",
            fontsize=8,
            fontstyle="italic",
            color="0.45",
        )
        start += size


def table(results: dict[str, Any]) -> Table:
    """Every model that is drawn: our accuracy, the paper's, and its qualities (1: yes, 0.5: in part, 0: no)."""
    rows = []
    for model in shown_models(results):
        about = MODELS[model]
        row: dict[str, Any] = {"model": model, "name": about.name, "trained_on": about.trained_on}
        for whose, stats in (("accuracy", results), ("paper_accuracy", results.get("paper", {}))):
            stat = stats.get("omnist_test", {}).get(model, {})
            row |= {f"{whose}_{what}": stat.get(what) for what in ("mean", "std")}
        row["seeds"] = results.get("omnist_test", {}).get(model, {}).get("n")
        degrees = {one: 1.0 if one in about.qualities else 0.5 * (one in about.partly) for one in QUALITIES}
        rows.append(row | {f"quality: {one}": degree for one, degree in degrees.items()})
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def shown_models(results: dict[str, Any]) -> list[str]:
    """The models of figures that we or the paper ran, in the order of the table of models."""
    ours, paper = results.get("omnist_test", {}), results.get("paper", {}).get("omnist_test", {})
    return [key for key, model in MODELS.items() if model.in_figures and (key in ours or key in paper)]


EXHIBIT = Exhibit(
    title="Fig. 4a: accuracy on the occluded video",
    section=COMPARISON,
    draw=draw,
    table=table,
    shows="Share of the frames of the OMNIST test video that each model classifies correctly.",
    ran=models_run,
    paper="mean and standard deviation over ten runs; its values are shown beside ours.",
)
