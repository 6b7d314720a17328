"""Accuracy against c, pull and intensity, one at a time around the preset."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback.experiments.parameter_sweeps import ParameterSweepsResult
from springback.figures.style import BLACK, BLUE, GREEN, RED, house_style

_AXIS = {"c": "weight dependence c", "pull": "pull γ", "intensity": "input intensity"}
_LINES = {
    "0": ("nothing hidden", GREEN, "^"),
    "19": ("19 rows hidden", BLUE, "s"),
    "noise": ("noise", RED, "D"),
    "all": ("all frames", BLACK, "o"),
}


def draw_parameter_sweeps(result: ParameterSweepsResult) -> Figure:
    """One panel for each parameter; accuracy of all, of unhidden, of the most hidden and of noise frames."""
    with house_style():
        figure = Figure(figsize=(7.2, 2.9), layout="constrained")
        names = list(dict.fromkeys(result.parameters))
        panels: list[Axes] = list(figure.subplots(1, len(names), sharey=True, squeeze=False)[0])
        for panel, name in zip(panels, names, strict=True):
            rows = np.flatnonzero([one == name for one in result.parameters])
            for group, (label, colour, marker) in _LINES.items():
                column = result.groups.index(group)
                panel.errorbar(
                    result.values[rows],
                    result.mean[rows, column],
                    result.std[rows, column],
                    color=colour,
                    marker=marker,
                    markersize=3.5,
                    linewidth=2 if group == "all" else 1.2,
                    elinewidth=0.8,
                    label=label,
                )
            panel.axvline(result.at_preset[name], color="0.8", linewidth=6, zorder=0)
            panel.set_xlabel(_AXIS.get(name, name))
            if name == "pull":
                panel.set_xscale("log")
                panel.set_xticks(result.values[rows], [f"{value:g}" for value in result.values[rows]], fontsize=8)
                panel.minorticks_off()
        panels[0].set_ylabel("accuracy (%)")
        panels[0].set_ylim(None, 102)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
        figure.supxlabel(
            f"grey: the preset · mean and std of {len(result.seeds)} videos of {result.n_digits} training digits",
            fontsize=8,
            color="0.35",
        )
    return figure
