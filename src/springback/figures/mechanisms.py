"""What each mechanism of the spiking circuit brings on the video."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback.experiments.mechanisms import REFERENCE, MechanismsResult
from springback.figures.style import BLUE, house_style

_PANELS = {"all": "all frames", "0": "nothing hidden", "19": "19 rows hidden", "noise": "noise"}


def draw_mechanisms(result: MechanismsResult) -> Figure:
    """A row for each variant, a panel for each kind of frame; a line marks the preset in every panel."""
    with house_style():
        n = len(result.variants)
        figure = Figure(figsize=(7.2, 0.29 * n + 0.9), layout="constrained")
        panels: list[Axes] = list(figure.subplots(1, len(_PANELS), sharey=True, width_ratios=[1.6, 1, 1, 1]))
        places = np.arange(n)
        preset = result.variants.index(REFERENCE)
        colours = [BLUE if place == preset else "0.35" for place in places]
        for panel, (group, title) in zip(panels, _PANELS.items(), strict=True):
            column = result.groups.index(group)
            mean, std = result.mean[:, column], result.std[:, column]
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
        for place, value in zip(places, result.mean[:, result.groups.index("all")], strict=True):
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
        figure.supxlabel(
            f"accuracy (%), mean and std of {len(result.seeds)} videos of {result.n_digits} digits",
            fontsize=8,
        )
    return figure
