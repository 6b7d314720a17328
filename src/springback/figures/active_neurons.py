"""Fig. 3c: the most active neurons of each frame as maps of their weights, coloured by their spikes."""

import math

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback.experiments.active_neurons import ActiveNeurons
from springback.figures.style import BLUE, RED, house_style
from springback.records import NOISE_LABEL

EMPTY_GREY = 0.94
GAP = 2


def draw_active_neurons(result: ActiveNeurons, *, of_efficacy: bool = False) -> Figure:
    """For each telling frame: what is seen, and which neurons answer without and with short-term STDP.

    The maps are resting weights W, as in the paper; with `of_efficacy` those of the third row are G = W + F. A neuron
    that did not fire leaves its place empty.
    """
    top = max(int(result.static_spikes.max()), int(result.adapting_spikes.max()), 1)
    scale = ScalarMappable(Normalize(0, top), _light_to_dark())
    adapting_maps = result.adapting_efficacy if of_efficacy else result.adapting_resting
    rows = (
        ("static", result.static_resting, result.static_spikes, result.static_answers),
        ("short-term\nSTDP", adapting_maps, result.adapting_spikes, result.adapting_answers),
    )
    n = len(result.telling)
    with house_style():
        figure = Figure(figsize=(7.2, 2.35), layout="constrained")
        panels = figure.subplots(3, n, gridspec_kw={"height_ratios": [0.72, 1, 1]})
        for panel in panels.ravel():
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
        for column, frame in enumerate(result.telling):
            panels[0, column].imshow(result.frames[frame], cmap="gray_r", vmin=0, vmax=255)
            panels[0, column].set_title(f"{frame * result.frame_ms:.0f}", fontsize=7, pad=2)
            for row, (_, maps, spikes, answers) in enumerate(rows, start=1):
                panels[row, column].imshow(_mosaic(maps[frame], spikes[frame], scale), interpolation="nearest")
                right = answers[frame] == result.labels[frame]
                panels[row, column].set_xlabel(
                    _name(answers[frame]), fontsize=7, labelpad=2, color=BLUE if right else RED,
                    fontweight="normal" if right else "bold",
                )  # fmt: skip
        for panel, (name, *_) in zip(panels[1:, 0], rows, strict=True):
            panel.set_ylabel(name, fontsize=8)
        panels[0, 0].set_ylabel("from (ms)\nframe", fontsize=7)
        bar = figure.colorbar(scale, ax=panels[1:, :], fraction=0.02, pad=0.01, aspect=25)
        bar.set_label(f"spikes in {result.frame_ms:g} ms", fontsize=8)
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
    return figure


def _light_to_dark() -> LinearSegmentedColormap:
    """The darker part of viridis, turned round: few spikes green, many dark violet, all visible on white."""
    return LinearSegmentedColormap.from_list("spikes", mpl.colormaps["viridis"](np.linspace(0.8, 0.0, 64)))


def _mosaic(maps: NDArray[np.float32], spikes: NDArray[np.int32], scale: ScalarMappable) -> NDArray[np.float64]:
    """The maps of one frame in a square, each from white (no weight) to the colour of its spikes."""
    side = math.ceil(math.sqrt(len(maps)))
    height, width = maps.shape[1] + GAP, maps.shape[2] + GAP
    picture = np.ones((side * height - GAP, side * width - GAP, 3))
    for place, (one, count) in enumerate(zip(maps, spikes, strict=True)):
        top, left = (place // side) * height, (place % side) * width
        spot = picture[top : top + height - GAP, left : left + width - GAP]
        if count == 0:
            spot[:] = EMPTY_GREY
            continue
        colour = np.array(scale.to_rgba(count)[:3])
        spot[:] = 1 - (one / max(float(one.max()), 1e-12))[..., None] * (1 - colour)
    return picture


def _name(answer: int) -> str:
    return "noise" if answer == NOISE_LABEL else str(answer)
