"""What the time constant of short-term plasticity trades: highly occluded frames against noise."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.experiments.time_constant import TimeConstantResult
from springback.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, house_style

Floats = NDArray[np.float64]

_LINES = {
    "0": ("nothing hidden", GREEN, "^", 1.2),
    "15": ("15 rows hidden", ORANGE, "v", 1.2),
    "19": ("19 rows hidden", BLUE, "s", 1.2),
    "noise": ("noise", RED, "D", 1.2),
    "all": ("all frames", BLACK, "o", 2.0),
}


def draw_time_constant(result: TimeConstantResult) -> Figure:
    """The spiking circuit on the left, elastic clustering on the right; time constants in frames on both."""
    with house_style():
        figure = Figure(figsize=(7.2, 3.3), layout="constrained")
        left, right = figure.subplots(1, 2, sharex=True, sharey=True)
        _draw(left, result.groups, result.spiking_frames, result.spiking_mean, result.spiking_std)
        _draw(right, result.groups, result.elastic_frames, result.elastic_mean, result.elastic_std)
        left.axvline(result.spiking_preset_frames, color="0.8", linewidth=6, zorder=0)
        right.axvline(result.elastic_preset_frames, color="0.8", linewidth=6, zorder=0)
        left.set_title("spiking circuit, short-term STDP", loc="left")
        right.set_title("elastic clustering", loc="left")
        left.set_ylabel("accuracy (%)")
        left.set_ylim(0, 103)
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False, columnspacing=1.2)
        figure.supxlabel(
            f"time constant (frames; one frame is {result.frame_ms:g} ms)  ·  grey: the usual one  ·  "
            f"mean and std of {len(result.seeds)} videos of {result.n_digits} digits",
            fontsize=8,
        )
    return figure


def _draw(panel: Axes, groups: tuple[str, ...], frames: Floats, mean: Floats, std: Floats) -> None:
    for group, (label, colour, marker, width) in _LINES.items():
        column = groups.index(group)
        panel.errorbar(
            frames,
            mean[:, column],
            std[:, column],
            color=colour,
            marker=marker,
            markersize=3.5,
            linewidth=width,
            elinewidth=0.8,
            label=label,
        )
    panel.set_xscale("log", base=2)
    panel.set_xticks([0.125, 0.25, 0.5, 1, 2, 4, 8, 16], ["1/8", "1/4", "1/2", "1", "2", "4", "8", "16"])
    panel.minorticks_off()
