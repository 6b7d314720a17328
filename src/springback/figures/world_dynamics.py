"""How well the next observation and its class are known as the world's dynamics vary."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.experiments.world_dynamics import WorldDynamicsResult
from springback.figures.style import BLACK, BLUE, ORANGE, RED, house_style

_AXIS = {
    "beta": "odds of a novel object, β",
    "diffusion": "movement per step",
    "memory": "time constant of f (steps)",
}
_LOOK = {"static": (ORANGE, "^"), "smoothed": (RED, "s"), "elastic": (BLUE, "o"), "exact": (BLACK, "D")}
_NAMES = {
    "static": "static",
    "smoothed": "smoothed: remembers the class",
    "elastic": "elastic: and the place",
    "exact": "exact (Theorem S2.1)",
}


def draw_world_dynamics(result: WorldDynamicsResult) -> Figure:
    """A column for each of the dynamics; rows: log-likelihood, distance to the exact posterior, wrong classes."""
    with house_style():
        figure = Figure(figsize=(7.2, 6.0), layout="constrained")
        names = list(dict.fromkeys(result.varied))
        panels = figure.subplots(3, len(names), sharex="col", sharey="row", squeeze=False)
        for column, name in enumerate(names):
            rows = np.flatnonzero([one == name for one in result.varied])
            top, centre, bottom = panels[:, column]
            _draw(top, result, rows, result.gain, result.gain_error, ("smoothed", "elastic", "exact"))
            _draw(centre, result, rows, result.distance, result.distance_error, ("static", "smoothed", "elastic"))
            _draw(bottom, result, rows, result.wrong, result.wrong_error, result.observers)
            bottom.plot(result.values[rows], result.expected_wrong[rows], color=BLACK, linestyle=":", linewidth=1.2)
            top.axhline(0, color=ORANGE, linewidth=1.2)
            for panel in panels[:, column]:
                panel.axvline(result.at_middle[name], color="0.88", linewidth=6, zorder=0)
            bottom.set_xscale("log")
            bottom.set_xlabel(_AXIS.get(name, name))
            bottom.set_xticks(result.values[rows], [f"{value:g}" for value in result.values[rows]], fontsize=8)
            bottom.minorticks_off()
        panels[0, 0].set_ylabel("log-likelihood\nover static (nats)")
        panels[1, 0].set_ylabel("distance to the exact\nposterior")
        panels[2, 0].set_ylabel("wrong class (%)")
        panels[1, 0].set_ylim(0, None)
        panels[2, 0].set_ylim(0, None)
        handles, labels = panels[2, 0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="outside upper center", ncols=4, frameon=False, columnspacing=1.0, fontsize=8
        )
        figure.supxlabel(
            f"grey: where the others stay · dotted: what the exact observer expects to get wrong\n"
            f"mean and standard error of {result.n_streams} streams "
            f"of {result.n_steps} steps",
            fontsize=8,
            color="0.35",
        )
    return figure


def _draw(
    panel: Axes,
    result: WorldDynamicsResult,
    rows: NDArray[np.intp],
    mean: NDArray[np.float64],
    error: NDArray[np.float64],
    observers: tuple[str, ...],
) -> None:
    for name in observers:
        column = result.observers.index(name)
        colour, marker = _LOOK[name]
        panel.errorbar(
            result.values[rows],
            mean[rows, column],
            error[rows, column],
            color=colour,
            marker=marker,
            markersize=3.5,
            linewidth=1.8 if name == "elastic" else 1.2,
            elinewidth=0.8,
            label=_NAMES[name],
        )
