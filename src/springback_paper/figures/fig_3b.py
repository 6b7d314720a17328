"""Fig. 3b: the network, drawn from a trained one: inputs, synapses, neurons that inhibit each other, and two phases."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.streaming.records import Images, Video
from springback_paper.figures.example_digit import record_neuron, spikes_to
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, RED, bare, house_style
from springback_paper.figures.table import Table, pictures, stacked, tidy

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """The network, some of its neurons, and their spikes to one frame from rest, with short-term STDP.

    Parameters
    ----------
    still, other_still : NDArray[np.uint8]
        (height, width) training digits.
    frame : NDArray[np.uint8]
        (height, width) the frame that is shown, the first of a video.
    occluded : NDArray[np.uint8]
        (height, width) the last frame of the same digit.
    neurons, classes : NDArray[np.int64]
        (m,) the neurons that fire most, then one that does not fire, and their classes.
    maps : NDArray[np.float32]
        (m, height, width) their resting weights W.
    pixels : NDArray[np.int64]
        (p, 2) row and column of some inputs, all of them bright.
    weights : NDArray[np.float32]
        (p, m) W of the synapses between these.
    spike_ms, spike_neuron
        (s,) when, and which of the m neurons, spiked.
    input_spikes, output_spikes : int
        Of all inputs and of all neurons in this frame.
    n_inputs, n_neurons : int
        Size of the network.
    show_ms, pull, memory_ms : float
        How long a frame is shown, and the pull and the time constant of short-term STDP.
    trained_on, video : str
        What the network was trained on, and the video.
    """

    still: NDArray[np.uint8]
    other_still: NDArray[np.uint8]
    frame: NDArray[np.uint8]
    occluded: NDArray[np.uint8]
    neurons: NDArray[np.int64]
    classes: NDArray[np.int64]
    maps: NDArray[np.float32]
    pixels: NDArray[np.int64]
    weights: NDArray[np.float32]
    spike_ms: Floats
    spike_neuron: NDArray[np.int64]
    input_spikes: int
    output_spikes: int
    n_inputs: int
    n_neurons: int
    show_ms: float
    pull: float
    memory_ms: float
    trained_on: str
    video: str


def run(
    model: SpikingModel, train: Images, video: Video, *, seed: int = 0, n_active: int = 3, n_pixels: int = 5
) -> Network:
    """Show the first frame of the video from rest and record every spike."""
    check.integer("n_active", n_active, low=1, high=model.preset.circuit.n_neurons - 1)
    check.integer("n_pixels", n_pixels, low=1)
    own = np.flatnonzero(video.digit == video.digit[0])
    frame, occluded = video.frames[own[0]], video.frames[own[-1]]
    counts = spikes_to(model, frame[None], seed=seed)[0]
    order = np.argsort(-counts, kind="stable")
    neurons = np.concatenate([order[:n_active], order[-1:]]).astype(np.int64)
    recording = record_neuron(model, frame[None], int(neurons[0]), seed=seed, every_steps=10_000)
    bright = np.flatnonzero(frame.ravel() >= 128)
    chosen = bright[np.linspace(0, len(bright) - 1, min(n_pixels, len(bright))).round().astype(int)]
    of_shown = np.isin(recording.out_index, neurons)
    preset, resting = model.preset, model.weights.resting
    return Network(
        still=train.pixels[0],
        other_still=train.pixels[1],
        frame=frame,
        occluded=occluded,
        neurons=neurons,
        classes=np.asarray(model.neuron_labels[neurons], np.int64),
        maps=resting[:, neurons].T.reshape(-1, *frame.shape),
        pixels=np.stack(np.unravel_index(chosen, frame.shape), axis=1).astype(np.int64),
        weights=resting[np.ix_(chosen, neurons)],
        spike_ms=recording.out_step[of_shown].astype(np.float64) * preset.circuit.dt_ms,
        spike_neuron=recording.out_index[of_shown].astype(np.int64),
        input_spikes=len(recording.in_step),
        output_spikes=len(recording.out_step),
        n_inputs=preset.circuit.n_inputs,
        n_neurons=preset.circuit.n_neurons,
        show_ms=preset.streaming.show_ms,
        pull=preset.short_term.pull,
        memory_ms=float(np.mean(preset.short_term.memory_ms)),
        trained_on=model.data,
        video=video.name,
    )


_SIDE = 3.2
"""Width of the input in the drawing; maps have 1."""


@house_style()
def draw(result: Network) -> Figure:
    """The input, its synapses to some neurons (wider: stronger), and their spikes; below: the two phases."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[3.6, 1])
    heights = 1.3 * np.arange(len(result.neurons), dtype=np.float64)[::-1]
    network = figure.add_subplot(grid[0, :])
    _draw_network(network, result, heights)
    _draw_spikes(network, result, heights)
    network.set(xlim=(-0.1, 13), ylim=(heights[-1] - 1.2, heights[0] + 1.1), aspect="equal")
    bare(network)
    for column, (name, shown, text) in enumerate(_phases(result)):
        inner = grid[1, column].subgridspec(1, 3, width_ratios=[1, 1, 2])
        panels = [figure.add_subplot(inner[0, place]) for place in range(3)]
        bare(*panels[:2], framed=True)
        bare(panels[2])
        for panel in panels[:2]:
            panel.spines[:].set_visible(True)
        for panel, picture in zip(panels, shown, strict=False):
            panel.imshow(picture, cmap="gray_r", vmin=0, vmax=255)
        panels[0].set_title(name, loc="left", fontsize=8)
        panels[2].text(0, 0.5, text, fontsize=8, va="center", transform=panels[2].transAxes)
    return figure


def _phases(result: Network) -> tuple[tuple[str, tuple[NDArray[np.uint8], ...], str], ...]:
    """Name, pictures and text of training and of inference."""
    short_term = f"ST-STDP moves F\n(pull {result.pull:g}, back in {result.memory_ms:g} ms);\nW stays"
    return (
        ("training: still digits", (result.still, result.other_still), "long-term STDP\nwrites W,\nwithout labels"),
        ("inference: video", (result.frame, result.occluded), short_term),
    )


def _draw_spikes(axes: Axes, result: Network, heights: Floats) -> None:
    """The output spikes of the neurons, each beside its map, over a scale of the time."""
    start, length = 9.2, 3.6
    for at, neuron in zip(heights, result.neurons, strict=True):
        times = result.spike_ms[result.spike_neuron == neuron] / result.show_ms
        axes.vlines(start + length * times, at - 0.35, at + 0.35, color=BLACK, linewidth=0.8)
    base = heights[-1] - 0.6
    axes.plot([start, start + length], [base, base], color=BLACK, linewidth=0.8)
    axes.text(start + length / 2, base - 0.1, f"{result.show_ms:g} ms", ha="center", va="top")
    axes.text(start, heights[0] + 0.62, "output spikes", fontsize=8)


def _draw_network(axes: Axes, result: Network, heights: Floats) -> None:
    height, width = result.frame.shape
    middle, left = heights.mean(), 6.0
    low = middle - _SIDE / 2
    axes.imshow(result.frame, cmap="gray_r", vmin=0, vmax=255, extent=(0, _SIDE, low, low + _SIDE))
    axes.add_patch(Rectangle((0, low), _SIDE, _SIDE, fill=False, linewidth=0.8))
    largest = float(result.weights.max())
    for (row, column), weights in zip(result.pixels, result.weights, strict=True):
        start = (_SIDE * (column + 0.5) / width, low + _SIDE * (1 - (row + 0.5) / height))
        axes.plot(*start, "o", color=BLUE, markersize=3)
        for weight, at in zip(weights, heights, strict=True):
            share = float(weight) / max(largest, 1e-9)
            axes.plot([start[0], left], [start[1], at], color=BLUE, linewidth=0.25 + 2 * share, alpha=0.55, zorder=1)
    for one, at in zip(result.maps, heights, strict=True):
        axes.imshow(one, cmap="cividis", extent=(left, left + 1, at - 0.5, at + 0.5), zorder=2)
    for one, other in pairwise(heights):
        for start, end in ((one, other), (other, one)):
            axes.add_patch(
                FancyArrowPatch(
                    (left + 1.1, start),
                    (left + 1.1, end),
                    connectionstyle=f"arc3,rad={-0.5 if start > end else 0.5}",
                    arrowstyle="|-|,widthA=0,widthB=2.5",
                    color=RED,
                    linewidth=1,
                )
            )
    for at, neuron, label in zip(heights, result.neurons, result.classes, strict=True):
        axes.text(left + 1.75, at, f"neuron {neuron}\nclass {label}", fontsize=7, va="center")
    axes.text(_SIDE / 2, low - 0.15, f"{result.n_inputs} inputs X", ha="center", va="top")
    axes.text(left + 0.5, heights[-1] - 0.6, f"{result.n_neurons} neurons Q", ha="center", va="top")
    axes.text(3.9, heights[0] + 0.35, "synapses\nG = W + F", ha="center", color=BLUE)
    axes.text(left + 1.75, heights[0] + 0.62, "inhibition", fontsize=8, color=RED)


def table(result: Network) -> Table:
    """The pictures, the neurons' weights, the synapses that are drawn, and the spikes."""
    shown = np.stack([result.still, result.other_still, result.frame, result.occluded])
    names = ("training", "training too", "frame", "last frame")
    synapses = {"row": result.pixels[:, :1], "column": result.pixels[:, 1:], "weight": result.weights}
    return stacked(
        {
            "pictures": pictures("brightness_of_255", shown, {"picture": names}),
            "weights": pictures(
                "weight", result.maps, {"neuron": result.neurons}, **{"class": result.classes[:, None, None]}
            ),
            "synapses": tidy({"input": range(len(result.pixels)), "neuron": result.neurons}, synapses),
            "spikes": {"time_ms": result.spike_ms, "neuron": result.spike_neuron},
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 3b: the network",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows=(
        "Every input has a synapse to every neuron, and a spike of a neuron inhibits all others. Drawn are some bright "
        "inputs, the neurons that fire most in this frame with one that does not fire, as maps of their weights, and "
        "the synapses between them; a wider line is a stronger one."
    ),
    ran=lambda r: (
        f"the first frame of {r.video}, from rest, {r.show_ms:g} ms: {r.input_spikes:,} input and {r.output_spikes} "
        f"output spikes of a network of {r.n_neurons} neurons, trained on {r.trained_on}."
    ),
    paper="a drawing of the same network.",
    run=run,
    seconds=2,
)
