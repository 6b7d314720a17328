"""Fig. 2b: how far one pair of spikes pulls a synapse, and how the synapse springs back; measured on the simulator.

dF(tau) = pull * max(0, c + (1 - c) W) * exp(-tau / tau_trace)  for an output spike tau >= 0 after the input spike,
          0 otherwise;       afterwards F(t) = dF * exp(-t / memory)       (Eq. 1-3; Methods, "ST-STDP")
"""

from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from springback import check
from springback.spiking import plots as plot
from springback.spiking.constants import steps
from springback.spiking.params import Circuit, ShortTermStdp
from springback.spiking.presets import moraitis_2020
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.weights import Weights
from springback_paper.figures.exhibit import CIRCUIT, Exhibit
from springback_paper.figures.style import BLACK, BLUE, GREEN, ORANGE, house_style
from springback_paper.figures.table import Table, stacked, tidy

Floats = NDArray[np.float64]

_TEACHER_WEIGHT = 1e4
_THETA_MV = 60.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PlasticityWindow:
    """The window of short-term STDP and the relaxation, each as measured and in closed form.

    Parameters
    ----------
    weights : tuple[float, ...]
        (m,) resting weights W of the measured synapses.
    lag_ms : Floats
        (n,) output minus input spike.
    change, expected_change : Floats
        (m, n) what the pair adds to F.
    pair_ms : float
        The lag of the pair whose relaxation is shown, on the strongest synapse.
    time_ms : Floats
        (t,) time from the output spike.
    efficacy, expected_efficacy : Floats
        (t,) G = W + F of that synapse.
    pull, weight_dependence, tau_trace_ms, memory_ms : float
        Parameters of the rule.
    """

    weights: tuple[float, ...]
    lag_ms: Floats
    change: Floats
    expected_change: Floats
    pair_ms: float
    time_ms: Floats
    efficacy: Floats
    expected_efficacy: Floats
    pull: float
    weight_dependence: float
    tau_trace_ms: float
    memory_ms: float


def run(
    short_term: ShortTermStdp,
    *,
    weights: tuple[float, ...] = (0.5, 1.0),
    longest_lag_ms: float = 100.0,
    lag_step_ms: float = 2.5,
    pair_ms: float = 5.0,
    dt_ms: float = 0.5,
) -> PlasticityWindow:
    """Pair one output spike with an input spike at every lag, each at a synapse of its own, all in one run.

    A further input, strong enough to fire the neuron at once, sets the time of the output spike; the threshold is so
    high that the others never do.

    Examples
    --------
    >>> window = run(ShortTermStdp(pull=0.7, tau_trace_ms=20.0), weights=(1.0,))
    >>> window.lag_ms[40], window.change[0, 40].round(4), window.change[0, 39]
    (np.float64(0.0), np.float64(0.7), np.float64(0.0))
    """
    check.require(not isinstance(short_term.memory_ms, np.ndarray), "memory_ms", "be one number", "an array")
    short_term = replace(short_term, delay_ms=None)  # one output spike: the neuron counts as active already
    tau_ms = float(np.asarray(short_term.memory_ms))
    for value in weights:
        check.real("weights", value, low=0)
    reach = steps(check.real("longest_lag_ms", longest_lag_ms, above=0), dt_ms)
    stride = max(steps(check.real("lag_step_ms", lag_step_ms, above=0), dt_ms), 1)
    lags = np.arange(-(reach // stride), reach // stride + 1) * stride
    pair = steps(check.real("pair_ms", pair_ms, low=0, high=longest_lag_ms), dt_ms)
    output_step = reach + 1
    n_steps = output_step + max(reach, steps(4 * tau_ms, dt_ms)) + 1

    n = len(lags)
    measured = np.repeat(np.array(weights), n)
    resting = np.concatenate([measured, [max(weights), _TEACHER_WEIGHT]])
    step = np.concatenate([np.tile(output_step - lags, len(weights)), [output_step - pair, output_step - 1]])
    run_of_one = simulate_spikes(
        Weights(resting[:, None].astype(np.float32), np.full(1, _THETA_MV, np.float32)),
        np.arange(len(resting)),
        step,
        n_steps,
        circuit=Circuit(n_inputs=len(resting), n_neurons=1, dt_ms=dt_ms),
        short_term=short_term,
        neurons=[0],
    )
    once = run_of_one.out_step.tolist() == [output_step]
    check.require(once, "the neuron", "fire once, when it is told to", run_of_one.out_step.tolist())
    short = run_of_one.short_term[:, :, 0].astype(np.float64)
    lag_ms = lags.astype(np.float64) * dt_ms
    time_ms = np.arange(-output_step, n_steps - output_step, dtype=np.float64) * dt_ms
    gain = short_term.pull * np.maximum(
        0.0, short_term.weight_dependence + (1 - short_term.weight_dependence) * np.array(weights)
    )
    window = np.where(lag_ms >= 0, np.exp(-np.maximum(lag_ms, 0) / short_term.tau_trace_ms), 0.0)
    strongest = max(weights)
    peak = gain.max() * np.exp(-pair * dt_ms / short_term.tau_trace_ms)
    relaxing = np.where(time_ms >= 0, np.exp(-np.maximum(time_ms, 0) / tau_ms), 0.0)
    return PlasticityWindow(
        weights=weights,
        lag_ms=lag_ms,
        change=short[output_step, : len(measured)].reshape(len(weights), n),
        expected_change=gain[:, None] * window,
        pair_ms=pair * dt_ms,
        time_ms=time_ms,
        efficacy=strongest + short[:, len(measured)],
        expected_efficacy=strongest + peak * relaxing,
        pull=short_term.pull,
        weight_dependence=short_term.weight_dependence,
        tau_trace_ms=short_term.tau_trace_ms,
        memory_ms=tau_ms,
    )


@house_style()
def draw(result: PlasticityWindow) -> Figure:
    """Left: the change of F against the lag of a pair of spikes. Right: the efficacy springs back to its rest.

    Examples
    --------
    >>> from springback_paper.figures import fig_2b as plasticity_window
    >>> from springback.spiking.params import ShortTermStdp
    >>> len(draw(plasticity_window.run(ShortTermStdp())).axes)
    2
    """
    figure = Figure(figsize=(7.2, 2.7), layout="constrained")
    window, relaxation = figure.subplots(1, 2)
    _draw_window(window, result)
    _draw_relaxation(relaxation, result)
    return figure


def _draw_window(axes: Axes, result: PlasticityWindow) -> None:
    at_zero = int(np.argmax(result.lag_ms >= 0))
    colours = (BLUE, GREEN, BLACK)
    for row, weight in enumerate(result.weights[::-1]):
        colour = colours[row % len(colours)]
        measured, expected = result.change[::-1][row], result.expected_change[::-1][row]
        plot.stdp_window((result.lag_ms, measured), axes, closed_form=expected, colour=colour)
        axes.annotate(
            f"W = {weight:g}",
            (0, expected[at_zero]),
            xytext=(8, 0) if row == 0 else (-5, 0),
            textcoords="offset points",
            ha="left" if row == 0 else "right",
            va="center",
            color=colour,
        )
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
    rule = f"$G = W + \\Delta F\\, e^{{-t / {result.memory_ms:g}\\,ms}}$"
    axes.text(0.97, 0.95, rule, transform=axes.transAxes, ha="right", va="top", color=ORANGE)
    axes.set_xlim(left=-0.1 * result.memory_ms)
    axes.set_xlabel("time since the output spike (ms)")
    axes.set_ylabel("efficacy G")
    axes.set_title("and the synapse springs back", loc="left")


def table(result: PlasticityWindow) -> Table:
    """Both panels: the change against the lag for each weight, and the efficacy over time."""
    change = {"change": result.change, "change_in_closed_form": result.expected_change}
    efficacy = {"efficacy": result.efficacy, "efficacy_in_closed_form": result.expected_efficacy}
    return stacked(
        {
            "window": tidy({"weight": result.weights, "lag_ms": result.lag_ms}, change),
            "relaxation": tidy({"time_ms": result.time_ms}, efficacy),
        }
    )


EXHIBIT = Exhibit(
    title="Fig. 2b: the window of ST-STDP, and the relaxation",
    section=CIRCUIT,
    draw=draw,
    table=table,
    shows="How much one pair of spikes adds to a synapse by the lag between them, and how that springs back.",
    ran=lambda r: (
        f"the compiled simulator, pull {r.pull:g}, c {r.weight_dependence:g}, trace {r.tau_trace_ms:g} ms, "
        f"relaxation {r.memory_ms:g} ms; lines are the closed form."
    ),
    paper="the same two curves, drawn schematically.",
    run=run,
    given=lambda _: {"short_term": moraitis_2020().short_term},
    seconds=2,
)
