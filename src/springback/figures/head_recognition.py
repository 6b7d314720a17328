"""Supplement: a head is recognised from profile to front view, and the front view alone is not."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.experiments.head_recognition import HeadAnswers
from springback.figures.style import BLACK, BLUE, ORANGE, house_style


def draw_head_recognition(result: HeadAnswers) -> Figure:
    """a: the front view out of context. b: the turn and the pause after it; pictures, synapses and spikes."""
    n_turn = len(result.yaw_deg)
    shown = [*range(n_turn), len(result.frames) - 1]
    top = float(max(result.spikes.mean(axis=0).max(), result.static_spikes.mean(axis=0).max(), 1))
    scale = {"cmap": "cividis", "vmin": 0, "vmax": float(result.efficacy.max()), "interpolation": "nearest"}
    with house_style():
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        grid = figure.add_gridspec(3, len(shown) + 2, width_ratios=[1, 0.12] + [1] * len(shown))
        columns = [[figure.add_subplot(grid[row, one]) for row in range(3)] for one in (0, *range(2, len(shown) + 2))]
        front = result.frames[n_turn - 1]
        drawn = _draw_pictures(columns[0], front, result.resting, "alone", scale)
        _draw_spikes(columns[0][2], None, result.alone_spikes.mean(), top)
        for column, frame in zip(columns[1:], shown, strict=True):
            title = f"{result.yaw_deg[frame]:.0f}\N{DEGREE SIGN}" if frame < n_turn else "pause"
            _draw_pictures(column, result.frames[frame], result.efficacy[frame], title, scale)
            _draw_spikes(column[2], result.static_spikes[:, frame].mean(), result.spikes[:, frame].mean(), top)
        for column in (columns[0], columns[n_turn]):
            column[0].spines[:].set(visible=True, color=BLUE, linewidth=2)
        for panel, name in zip(columns[0], ("input", "synapses", "spikes"), strict=True):
            panel.set_ylabel(name, fontsize=8)
        for height, name, colour in ((0.95, "static", BLACK), (1.25, "short-term STDP", ORANGE)):
            axes = columns[1][2]
            axes.text(0, height, name, transform=axes.transAxes, fontsize=7, color=colour, va="top").set_in_layout(
                False
            )
        for letter, column in (("a", columns[0]), ("b", columns[1])):
            column[0].text(-0.1, 1.32, letter, transform=column[0].transAxes, fontweight="bold")
        bar = figure.colorbar(drawn, ax=[column[1] for column in columns], fraction=0.015, pad=0.01)
        bar.set_label("efficacy", fontsize=7)
        bar.ax.tick_params(labelsize=6)
        bar.outline.set_visible(False)
    return figure


def _draw_pictures(
    column: list[Axes], frame: NDArray[Any], synapses: NDArray[Any], title: str, scale: dict[str, Any]
) -> Any:
    column[0].imshow(frame, cmap="gray", vmin=0, vmax=255)
    column[0].set_title(title, fontsize=7, pad=2)
    for panel in column[:2]:
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set_visible(False)
    return column[1].imshow(synapses, **scale)


def _draw_spikes(axes: Axes, static: float | None, adapting: float, top: float) -> None:
    """Mean spikes of a frame over the repeats as two bars, or one if there is no static answer."""
    if static is not None:
        axes.bar(-0.2, static, width=0.34, color=BLACK)
        axes.text(-0.2, static, f"{static:.0f}", ha="center", va="bottom", fontsize=6, color=BLACK)
    place = 0.0 if static is None else 0.2
    axes.bar(place, adapting, width=0.34, color=ORANGE)
    axes.text(place, adapting, f"{adapting:.0f}", ha="center", va="bottom", fontsize=6, color=ORANGE)
    axes.set_xlim(-0.55, 0.55)
    axes.set_ylim(0, 1.25 * top)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
