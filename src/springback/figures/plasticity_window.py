"""Fig. 2b: the window of short-term STDP and the relaxation, measured and in closed form."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback.experiments.plasticity_window import PlasticityWindow
from springback.figures.style import BLACK, BLUE, GREEN, ORANGE, house_style


def draw_plasticity_window(result: PlasticityWindow) -> Figure:
    """Left: the change of F against the lag of a pair of spikes. Right: the efficacy springs back to its rest.

    >>> from springback.experiments import plasticity_window
    >>> from springback.spiking.params import ShortTermStdp
    >>> len(draw_plasticity_window(plasticity_window.run(ShortTermStdp())).axes)
    2
    """
    with house_style():
        figure = Figure(figsize=(7.2, 2.7), layout="constrained")
        window, relaxation = figure.subplots(1, 2)
        _draw_window(window, result)
        _draw_relaxation(relaxation, result)
    return figure


def _draw_window(axes: Axes, result: PlasticityWindow) -> None:
    axes.axvline(0, color="0.8", linewidth=0.8)
    before = result.lag_ms < 0
    colours = (BLUE, GREEN, BLACK)
    for row, weight in enumerate(result.weights[::-1]):
        colour = colours[row % len(colours)]
        measured, expected = result.change[::-1][row], result.expected_change[::-1][row]
        for side in (before, ~before):
            axes.plot(result.lag_ms[side], expected[side], color=colour, linewidth=1.2)
        axes.plot(result.lag_ms, measured, ".", color=colour, markersize=4)
        axes.annotate(
            f"W = {weight:g}",
            (0, expected[~before][0]),
            xytext=(8, 0) if row == 0 else (-5, 0),
            textcoords="offset points",
            ha="left" if row == 0 else "right",
            va="center",
            color=colour,
        )
    axes.set_xlabel("output spike after input spike, $\\tau$ (ms)")
    axes.set_ylabel("change of F")
    axes.set_title("one pair of spikes pulls,", loc="left")
    key = f"dots: simulator\nlines: $\\Delta F \\propto e^{{-\\tau / {result.tau_trace_ms:g}\\,ms}}$"
    axes.text(0.03, 0.95, key, transform=axes.transAxes, va="top", fontsize=8, color="0.3")


def _draw_relaxation(axes: Axes, result: PlasticityWindow) -> None:
    after = result.time_ms >= 0
    every = max(int(after.sum()) // 40, 1)
    resting, peak = result.efficacy[0], result.efficacy.max()
    axes.axhline(resting, color="0.5", linewidth=0.8, linestyle="--")
    axes.plot(result.time_ms[after], result.expected_efficacy[after], color=ORANGE, linewidth=1.2)
    axes.plot(result.time_ms[after][::every], result.efficacy[after][::every], ".", color=ORANGE, markersize=4)
    axes.annotate("", (0, peak), xytext=(0, resting), arrowprops={"arrowstyle": "->", "color": BLUE, "shrinkA": 0})
    axes.annotate("$\\Delta F$", (0, (resting + peak) / 2), xytext=(6, 0), textcoords="offset points", color=BLUE)
    axes.text(result.time_ms[-1] / 4, resting, "resting weight W", va="bottom", fontsize=8, color="0.3")
    rule = f"$G = W + \\Delta F\\, e^{{-t / {result.tau_short_term_ms:g}\\,ms}}$"
    axes.text(0.97, 0.95, rule, transform=axes.transAxes, ha="right", va="top", color=ORANGE)
    axes.set_xlim(left=-0.1 * result.tau_short_term_ms)
    axes.set_xlabel("time since the output spike (ms)")
    axes.set_ylabel("efficacy G")
    axes.set_title("and the synapse springs back", loc="left")
