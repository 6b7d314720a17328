"""Fig. 3d: the efficacies of one neuron, frame by frame, while a digit is being hidden and then replaced by noise."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.spiking.model import SpikingModel
from springback.streaming.records import Video
from springback_paper.figures.example_digit import Example, choose_example, example_in_words, short_term_after_each
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import bare, house_style, thin_bar
from springback_paper.figures.table import Table, pictures, stacked


@dataclass(frozen=True, kw_only=True, eq=False)
class SynapseSnapshots(Example):
    """One neuron over the n frames of the example digit.

    Parameters
    ----------
    neuron, neuron_label : int
        The neuron that fires most while the digit is shown, and its class.
    frames, labels, rows_hidden
        (n, height, width) uint8, (n,), (n,) with -1 on noise.
    telling : tuple[int, ...]
        The frames that are drawn.
    spikes : NDArray[np.int32]
        (n,) its output spikes in each frame.
    time_ms : NDArray[np.float64]
        (n + 1,) when its efficacies were read: at rest, and at each frame's end.
    efficacy : NDArray[np.float32]
        (n + 1, height, width) G = W + F at these times.
    """

    neuron: int
    neuron_label: int
    frames: NDArray[np.uint8]
    labels: NDArray[np.int64]
    rows_hidden: NDArray[np.int16]
    telling: tuple[int, ...]
    spikes: NDArray[np.int32]
    time_ms: NDArray[np.float64]
    efficacy: NDArray[np.float32]


def run(model: SpikingModel, video: Video, *, label: int = 0, seed: int = 0) -> SynapseSnapshots:
    """Follow the most active neuron of the example digit (see `choose_example`)."""
    example = choose_example(model, video, label=label, seed=seed)
    shown, neuron = example.shown, example.neuron
    resting = model.weights.resting[:, neuron]
    short_term = [now[:, neuron] for now in short_term_after_each(model, shown.frames, seed=seed)]
    efficacy = np.stack([resting, *(resting + one for one in short_term)])
    return SynapseSnapshots(
        **example.named(),
        neuron=neuron,
        neuron_label=int(model.neuron_labels[neuron]),
        frames=shown.frames,
        labels=shown.labels,
        rows_hidden=shown.rows_hidden,
        telling=example.telling_frames,
        spikes=example.adapting_counts[:, neuron],
        time_ms=np.arange(len(shown) + 1, dtype=np.float64) * model.preset.streaming.show_ms,
        efficacy=efficacy.reshape(-1, *shown.frame_shape),
    )


@house_style()
def draw(result: SynapseSnapshots) -> Figure:
    """Above: the frames. Below: the neuron at rest and at the end of each frame, with its spikes in that frame."""
    n = len(result.telling) + 1
    figure = Figure(figsize=(7.2, 1.5), layout="constrained")
    panels = figure.subplots(2, n)
    bare(*panels.ravel())
    style = {"cmap": "cividis", "vmin": 0, "vmax": float(result.efficacy.max()), "interpolation": "nearest"}
    drawn = panels[1, 0].imshow(result.efficacy[0], **style)
    panels[0, 0].text(0.5, 0.5, "rest", ha="center", va="center", fontsize=8, transform=panels[0, 0].transAxes)
    panels[1, 0].set_xlabel("0 ms", fontsize=7, labelpad=2)
    for column, frame in enumerate(result.telling, start=1):
        panels[0, column].imshow(result.frames[frame], cmap="gray_r", vmin=0, vmax=255)
        panels[0, column].set_title(f"{result.spikes[frame]}", fontsize=7, pad=2)
        panels[1, column].imshow(result.efficacy[frame + 1], **style)
        panels[1, column].set_xlabel(f"{result.time_ms[frame + 1]:.0f}", fontsize=7, labelpad=2)
    panels[0, 0].set_title("spikes:", fontsize=7, pad=2)
    thin_bar(figure, drawn, panels, "efficacy G", fraction=0.02, aspect=20)
    return figure


def table(result: SynapseSnapshots) -> Table:
    """The frames that are shown, with the neuron's spikes in each, and its efficacies at rest and at their ends."""
    telling = list(result.telling)
    ends = [0, *(frame + 1 for frame in telling)]
    return stacked(
        {
            "frames": pictures(
                "brightness_of_255",
                result.frames[telling],
                {"frame": telling},
                spikes=result.spikes[telling][:, None, None],
            ),
            "efficacies": pictures("efficacy", result.efficacy[ends], {"time_ms": result.time_ms[ends]}),
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 3d: snapshots of one neuron's efficacies",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows="G = W + F of the neuron that fires most, at the end of each frame.",
    ran=example_in_words,
    paper="the same, for a neuron of its Fig. 3c.",
    run=run,
)
