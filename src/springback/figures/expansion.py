"""Supplement: a neuron's representation expands to an unfamiliar digit while it is shown."""

from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from springback.experiments.expansion import Expansion
from springback.figures.style import BLACK, ORANGE, house_style


def draw_expansion(result: Expansion) -> Figure:
    """a: the frames and the neuron's spikes; b: its weights; c: its efficacies in the last frame; d: after noise."""
    n = len(result.frames)
    with house_style():
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        grid = figure.add_gridspec(2, 1, height_ratios=[0.42, 1])
        places = grid[0].subgridspec(1, n)
        strip = [figure.add_subplot(places[0, column]) for column in range(n)]
        for panel, frame, adapting, static in zip(
            strip, result.frames, result.spikes, result.static_spikes, strict=True
        ):
            panel.imshow(frame, cmap="gray_r", vmin=0, vmax=255)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
            for height, spikes, colour in ((-0.12, adapting, ORANGE), (-0.5, static, BLACK)):
                panel.text(
                    0.5, height, spikes, transform=panel.transAxes, ha="center", va="top", fontsize=8, color=colour
                )
        strip[0].set_title("a", loc="left", fontweight="bold")
        for height, name, colour in ((-0.12, "short-term STDP", ORANGE), (-0.5, "static", BLACK)):
            strip[0].text(
                -0.15, height, f"{name}: spikes", transform=strip[0].transAxes, ha="right", va="top", fontsize=7,
                color=colour,
            )  # fmt: skip
        places = grid[1].subgridspec(1, 3)
        maps = [figure.add_subplot(places[0, column]) for column in range(3)]
        titles = (
            ("b", "at rest: W", result.resting, f"cosine to last frame {result.resting_overlap:.2f}"),
            ("c", "last frame: G = W + F", result.efficacy, f"cosine to last frame {result.efficacy_overlap:.2f}"),
            ("d", "after the noise: springing back", result.relaxed, ""),
        )
        top = float(result.efficacy.max())
        for panel, (letter, title, picture, note) in zip(maps, titles, strict=True):
            drawn = panel.imshow(picture, cmap="cividis", norm=PowerNorm(0.5, 0, top), interpolation="nearest")
            panel.set_title(f"$\\bf{{{letter}}}$  {title}", loc="left", fontsize=8)
            panel.set_xlabel(note, fontsize=7, labelpad=3)
            panel.set_xticks([])
            panel.set_yticks([])
        bar = figure.colorbar(drawn, ax=maps, fraction=0.025, pad=0.01)
        bar.set_label("efficacy (square-root scale)", fontsize=8)
        bar.set_ticks([0, 0.1, 0.5, 1, 2, 4], labels=["0", "0.1", "0.5", "1", "2", "4"])
        bar.ax.tick_params(labelsize=7)
        bar.outline.set_visible(False)
    return figure
