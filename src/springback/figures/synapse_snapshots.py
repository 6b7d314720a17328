"""Fig. 3d: the efficacies of one neuron over the frames of a digit that is being hidden."""

from matplotlib.figure import Figure

from springback.experiments.synapse_snapshots import SynapseSnapshots
from springback.figures.style import house_style


def draw_synapse_snapshots(result: SynapseSnapshots) -> Figure:
    """Above: the frames. Below: the neuron at rest and at the end of each frame, with its spikes in that frame."""
    n = len(result.telling) + 1
    with house_style():
        figure = Figure(figsize=(7.2, 1.5), layout="constrained")
        panels = figure.subplots(2, n)
        for panel in panels.ravel():
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
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
        bar = figure.colorbar(drawn, ax=panels, fraction=0.02, pad=0.01, aspect=20)
        bar.set_label("efficacy G", fontsize=8)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
    return figure
