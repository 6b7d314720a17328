"""Fig. 3e: input and output spikes of one synapse, and its short-term part."""

from matplotlib.figure import Figure

from springback.experiments.synapse_trace import SynapseTrace
from springback.figures.style import BLACK, BLUE, ORANGE, RED, house_style


def draw_synapse_trace(result: SynapseTrace) -> Figure:
    """Spikes of the pixel and of the neuron above, F below, the pixel in the digit to the right."""
    with house_style():
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        grid = figure.add_gridspec(2, 2, height_ratios=[0.45, 1], width_ratios=[1, 0.22])
        spikes, trace = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
        digit = figure.add_subplot(grid[:, 1])
        spikes.eventplot(
            [result.output_ms, result.input_ms],
            colors=[BLACK, BLUE],
            lineoffsets=[0, 1],
            linelengths=0.7,
            linewidths=0.7,
        )
        spikes.set_yticks([0, 1], ["output", "input"])
        for label, colour in zip(spikes.get_yticklabels(), (BLACK, BLUE), strict=True):
            label.set_color(colour)
        spikes.tick_params(axis="y", length=0)
        spikes.spines[["left", "bottom"]].set_visible(False)
        spikes.set_xticks([])
        spikes.set_xlim(0, result.time_ms[-1])
        trace.plot(result.time_ms, result.short_term, color=ORANGE, linewidth=1.2)
        trace.set_xlim(0, result.time_ms[-1])
        trace.set_ylim(0, None)
        trace.set_xlabel("time (ms)")
        trace.set_ylabel("short-term part F")
        for axes in (spikes, trace):
            axes.axvline(result.hidden_from_ms, color="0.6", linewidth=0.8, linestyle="--")
        trace.text(
            result.hidden_from_ms, 0.02, " the pixel is hidden", transform=trace.get_xaxis_transform(), va="bottom",
            fontsize=8, color="0.3",
        )  # fmt: skip
        digit.imshow(result.frame, cmap="gray_r", vmin=0, vmax=255)
        digit.plot(result.column, result.row, "s", markersize=5, markerfacecolor="none", markeredgecolor=RED)
        digit.set_axis_off()
        digit.set_title(f"the pixel\nW = {result.resting:.2f}", fontsize=8)
    return figure
