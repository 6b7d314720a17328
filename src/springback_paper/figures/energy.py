"""What a frame costs the circuit: synaptic operations, spikes and sparsity, as NeuroBench counts them."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking.model import SpikingModel
from springback.spiking.operations import count_operations
from springback.streaming.records import Video
from springback.streaming.wording import percent
from springback_paper.figures.exhibit import THEORY, Exhibit
from springback_paper.figures.style import BLACK, BLUE, ORANGE, house_style
from springback_paper.figures.table import Table, tidy

Floats = NDArray[np.float64]

MODELS = ("static", "short-term STDP")
COUNTED = (
    "input_spikes",
    "output_spikes",
    "inhibitory_spikes",
    "effective_acs",
    "dense",
    "updates",
    "activation_sparsity",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Energy:
    """Means over the frames of each group: those with as many rows hidden, and noise.

    Parameters
    ----------
    groups : tuple[str, ...]
        Rows hidden, and "noise".
    n_frames : tuple[int, ...]
        Frames in each group.
    values : Floats
        (models, groups, counted): see `MODELS` and `COUNTED`.
    multiplications : int
        What one frame costs a layer of the same size that multiplies every pixel by every weight once.
    n_neurons : int
        Excitatory neurons.
    video : str
        Its name.
    """

    groups: tuple[str, ...]
    n_frames: tuple[int, ...]
    values: Floats
    multiplications: int
    n_neurons: int
    video: str


def run(model: SpikingModel, video: Video, *, seed: int = 0, n_frames: int = 1000) -> Energy:
    """Follow the beginning of the video with and without short-term STDP, and count."""
    check.integer("n_frames", n_frames, low=1)
    shown = video.stretch(0, min(n_frames, len(video)))
    names = np.array([str(rows) if rows >= 0 else "noise" for rows in shown.rows_hidden])
    groups = (*(str(rows) for rows in np.unique(shown.rows_hidden) if rows >= 0), *(["noise"] * ("noise" in names)))
    values = np.zeros((len(MODELS), len(groups), len(COUNTED)))
    for place, adapts in enumerate((False, True)):
        cost = count_operations(model, shown.frames, adapts=adapts, seed=seed)
        for at, group in enumerate(groups):
            values[place, at] = [getattr(cost, name)[names == group].mean() for name in COUNTED]
    circuit = model.preset.circuit
    return Energy(
        groups=groups,
        n_frames=tuple(int((names == group).sum()) for group in groups),
        values=values,
        multiplications=circuit.n_inputs * circuit.n_neurons,
        n_neurons=circuit.n_neurons,
        video=video.name,
    )


@house_style()
def draw(result: Energy) -> Figure:
    """Left: effective synaptic operations of a frame. Right: output spikes of a frame; both by rows hidden."""
    figure = Figure(figsize=(7.2, 2.7), layout="constrained")
    operations, spikes = figure.subplots(1, 2)
    at = np.arange(len(result.groups))
    for place, (name, colour) in enumerate(zip(MODELS, (BLUE, ORANGE), strict=True)):
        offset = at + 0.4 * (place - 0.5)
        operations.bar(offset, result.values[place, :, COUNTED.index("effective_acs")] / 1e6, 0.4, color=colour)
        spikes.bar(offset, result.values[place, :, COUNTED.index("output_spikes")], 0.4, color=colour, label=name)
    dense = result.multiplications / 1e6
    operations.axhline(dense, color=BLACK, linewidth=0.8, linestyle="--", label="one dense layer of this size")
    operations.set(ylabel="accumulates (million)", xlabel="rows hidden")
    operations.set_title("synaptic operations of a frame", loc="left")
    operations.legend(frameon=False, fontsize=8, loc="upper right")
    spikes.set(ylabel="output spikes", xlabel="rows hidden")
    spikes.set_title("spikes of a frame", loc="left")
    spikes.legend(frameon=False, fontsize=8)
    for panel in (operations, spikes):
        panel.set_xticks(at, result.groups, fontsize=8)
    return figure


def table(result: Energy) -> Table:
    """The means of every group of frames, with and without short-term STDP."""
    columns = {name: result.values[:, :, place] for place, name in enumerate(COUNTED)}
    frames = np.array(result.n_frames)[None]
    return tidy({"model": MODELS, "rows_hidden": result.groups}, {"frames": frames, **columns})


def _ran(result: Energy) -> str:
    frames = np.array(result.n_frames)
    means = (result.values * frames[:, None]).sum(axis=1) / frames.sum()
    acs, dense, sparsity = (means[1, COUNTED.index(one)] for one in ("effective_acs", "dense", "activation_sparsity"))
    return (
        f"the first {frames.sum():,} frames of {result.video}, {result.n_neurons} neurons. With short-term STDP, a "
        f"frame takes {acs:,.0f} accumulates, {percent(acs / dense, 2)} % of what a machine takes that computes every "
        f"synapse in every step; {percent(sparsity, 2)} % of all neurons and steps are without a spike."
    )


EXHIBIT = Exhibit(
    title="What a frame costs",
    section=THEORY,
    draw=draw,
    table=table,
    shows=(
        "Effective accumulates (a spike that meets a synapse with a weight) and output spikes of a frame, counted as "
        "NeuroBench does; updates by plasticity are in the table."
    ),
    ran=_ran,
    paper="not shown.",
    run=run,
    seconds=4,
)
