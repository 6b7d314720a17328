"""Supplement: a neuron follows its input and springs back, on the plane of two principal components."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.experiments.principal_path import PrincipalPath
from springback.figures.style import BLACK, GREEN, ORANGE, SKY, house_style

ARROW_SHARE = 0.4
"""How much of the way to the input, and to rest, the arrows go."""


def draw_principal_path(result: PrincipalPath) -> Figure:
    """The frames of the digit in green, the neuron's path in grey, then orange once noise has replaced the digit.

    Circles: the neuron at the end of each frame. The two arrows start where the neuron is half-way through the
    digit's new frames: blue towards its input, orange towards rest.
    """
    n_digit, n_video = result.n_digit, result.n_digit + result.n_noise
    path, ends = result.neuron_path, list(result.snapshots)
    pulled, after = path[: ends[n_digit - 1] + 1], path[ends[n_digit - 1] :]
    middle = min(5, n_digit - 1)
    here, there = path[ends[middle]], result.input_path[middle]
    with house_style():
        figure = Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.subplots()
        axes.plot(*result.input_path.T, "o-", color=GREEN, linewidth=1, markersize=5)
        axes.plot(*pulled.T, color="0.5", linewidth=1)
        axes.plot(*after.T, color=ORANGE, linewidth=1.5)
        axes.plot(*path[ends[:n_video]].T, "o", markerfacecolor="white", markeredgecolor=GREEN, markersize=5)
        axes.plot(*result.resting, "o", color=ORANGE, markersize=9)
        _draw_arrow(axes, here, here + ARROW_SHARE * (there - here), SKY)
        _draw_arrow(axes, here, here + ARROW_SHARE * (result.resting - here), ORANGE)
        _write(axes, "input", (result.input_path[-1] + there) / 2, (8, -8), GREEN)
        _write(axes, "neuron", path[ends[min(middle + 2, n_digit - 1)]], (8, -10), BLACK)
        _write(axes, "springs back", after[len(after) // 12], (-30, 8), ORANGE)
        _write(axes, "rest", result.resting, (6, 8), ORANGE)
        axes.set_xlabel(f"first principal component of the frames (both: {result.explained:.0f} % of their variance)")
        axes.set_ylabel("second principal component")
        axes.set_aspect("equal")
        axes.margins(0.06)
    return figure


def _write(axes: Axes, text: str, point: NDArray[Any], offset: tuple[int, int], colour: str) -> None:
    axes.annotate(text, (point[0], point[1]), xytext=offset, textcoords="offset points", color=colour)


def _draw_arrow(axes: Axes, start: NDArray[Any], end: NDArray[Any], colour: str) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end[0], end[1]), xytext=(start[0], start[1]), arrowprops=look)
