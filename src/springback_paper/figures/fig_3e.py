"""Fig. 3e: one synapse, its input and output spikes, and its short-term part F over time."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking import plots as plot
from springback.spiking.model import SpikingModel
from springback.streaming.records import Video
from springback_paper.figures.example_digit import Example, choose_example, example_in_words, record_neuron
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, RED, house_style
from springback_paper.figures.table import Table, pictures, stacked

BRIGHT = 128
"""Half of full brightness: the faint rim of a stroke does not count as handwriting."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SynapseTrace(Example):
    """One synapse from the start of the example digit until its pixel has been hidden for as long as it was seen.

    Parameters
    ----------
    neuron : int
        The neuron that fires most while the digit is shown.
    row, column : int
        The pixel, see `uppermost_pixel`.
    resting : float
        W of this synapse.
    hidden_from_ms : float
        When the pixel disappears under the occluder.
    frame : NDArray[np.uint8]
        (height, width) uint8, the digit unoccluded.
    input_ms, output_ms : NDArray[np.float64]
        When the pixel, and when the neuron, spiked.
    time_ms, short_term
        (samples,) F of this synapse over time.
    """

    neuron: int
    row: int
    column: int
    resting: float
    hidden_from_ms: float
    frame: NDArray[np.uint8]
    input_ms: NDArray[np.float64]
    output_ms: NDArray[np.float64]
    time_ms: NDArray[np.float64]
    short_term: NDArray[np.float32]


def run(model: SpikingModel, video: Video, *, label: int = 0, seed: int = 0) -> SynapseTrace:
    """Record the synapse from the uppermost handwritten pixel of the example digit to its most active neuron."""
    example = choose_example(model, video, label=label, seed=seed)
    shown, neuron = example.shown, example.neuron
    resting, dt_ms = model.weights.resting[:, neuron], model.preset.circuit.dt_ms
    c = model.preset.short_term.weight_dependence
    row, column = uppermost_pixel(shown.frames[0], (c + (1 - c) * resting > 0).reshape(shown.frame_shape))
    pixel = row * shown.frame_shape[1] + column
    is_lit = shown.frames[: example.n_shown, row, column] > 0
    n_seen = example.n_shown if is_lit.all() else int(np.argmin(is_lit))
    recording = record_neuron(model, shown.frames[: 2 * n_seen], neuron, seed=seed)
    return SynapseTrace(
        **example.named(),
        neuron=neuron,
        row=row,
        column=column,
        resting=float(resting[pixel]),
        hidden_from_ms=n_seen * model.preset.streaming.show_ms,
        frame=shown.frames[0],
        input_ms=recording.in_step[recording.in_index == pixel] * dt_ms,
        output_ms=recording.out_step[recording.out_index == neuron] * dt_ms,
        time_ms=recording.sample_step.astype(np.float64) * dt_ms,
        short_term=recording.short_term[:, pixel, 0],
    )


def uppermost_pixel(frame: NDArray[np.uint8], can_be_pulled: NDArray[np.bool_]) -> tuple[int, int]:
    """The row and column of the uppermost handwritten pixel whose synapse can be pulled, the brightest of its row.

    Handwritten: of at least half brightness. A synapse with `c + (1 - c) W <= 0` is never pulled.

    Examples
    --------
    >>> frame = np.array([[0, 90, 0], [0, 200, 250], [255, 0, 0]], np.uint8)
    >>> uppermost_pixel(frame, np.ones((3, 3), bool)), uppermost_pixel(frame, np.eye(3, dtype=bool))
    ((1, 2), (1, 1))
    """
    seen = np.where(can_be_pulled & (frame >= BRIGHT), frame, 0)
    check.require(bool(seen.any()), "the digit", "have a bright pixel whose synapse can be pulled", "none")
    row = int(np.argmax(seen.any(axis=1)))
    return row, int(np.argmax(seen[row]))


@house_style()
def draw(result: SynapseTrace) -> Figure:
    """Spikes of the pixel and of the neuron above, F below, the pixel in the digit to the right."""
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[0.45, 1], width_ratios=[1, 0.22])
    spikes, trace = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    digit = figure.add_subplot(grid[:, 1])
    plot.spike_rows({"output": result.output_ms, "input": result.input_ms}, spikes, colours=(BLACK, BLUE))
    spikes.set_xticks([])
    spikes.set_xlim(0, result.time_ms[-1])
    plot.short_term((result.time_ms, result.short_term), trace)
    trace.set_xlim(0, result.time_ms[-1])
    for axes in (spikes, trace):
        axes.axvline(result.hidden_from_ms, color="0.6", linewidth=0.8, linestyle="--")
    trace.text(
        result.hidden_from_ms, 0.02, " the pixel is hidden", transform=trace.get_xaxis_transform(), va="bottom",
        fontsize=8, color="0.3"
    )  # fmt: skip
    digit.imshow(result.frame, cmap="gray_r", vmin=0, vmax=255)
    digit.plot(result.column, result.row, "s", markersize=5, markerfacecolor="none", markeredgecolor=RED)
    digit.set_axis_off()
    digit.set_title(f"the pixel\nW = {result.resting:.2f}", fontsize=8)
    return figure


def table(result: SynapseTrace) -> Table:
    """Times of the spikes, F over time, and the digit with the pixel."""
    chosen = np.zeros(result.frame.shape, np.int64)
    chosen[result.row, result.column] = 1
    return stacked(
        {
            "input spikes": {"time_ms": result.input_ms},
            "output spikes": {"time_ms": result.output_ms},
            "short-term part": {"time_ms": result.time_ms, "short_term": result.short_term},
            "digit": pictures("brightness_of_255", result.frame, is_the_pixel=chosen),
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 3e: one synapse",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows="Spikes of the uppermost pixel of the digit and of the neuron, and F of the synapse between them.",
    ran=example_in_words,
    paper="the same over 700 ms; input spikes cease when the pixel is hidden.",
    run=run,
)
