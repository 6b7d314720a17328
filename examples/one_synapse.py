"""Stimulate one synapse: pairs of spikes at one lag, the window over many lags, and how the change springs back.

    python examples/one_synapse.py --out picture.png

The protocol is that of a slice experiment. A presynaptic spike arrives at a weak synapse, and a strong input makes the
neuron fire a few milliseconds later; five such pairs come at 5 Hz. What the pairs add to the synapse, F, is read in the
pauses and after the last pair. The weight W, which long-term plasticity would change, stays as it is.
"""

import argparse

import numpy as np
from matplotlib.figure import Figure

from springback.spiking import plots as plot
from springback.spiking.composed import ComposedCircuit, Lif, ShortTermStdp, spikes_at
from springback_paper.figures.style import BLUE, house_style

RULE = ShortTermStdp(pull=0.05, weight_dependence=1.0, tau_trace_ms=20.0, memory_ms=300.0)
N_PAIRS, INTERVAL_MS, FIRST_MS, END_MS = 5, 200.0, 100.0, 2000.0
WEAK, STRONG, LATENCY_MS = 0.5, 60.0, 0.5


def pair(lag_ms=10.0):
    """Give five pairs with the output spike `lag_ms` after the input spike; record the neuron in every millisecond."""
    circuit = ComposedCircuit(np.array([[WEAK], [STRONG]]), neurons=Lif(), plasticity=RULE)
    before = FIRST_MS + INTERVAL_MS * np.arange(N_PAIRS)
    times_ms = np.concatenate([before, before + lag_ms - LATENCY_MS])
    spikes = spikes_at(np.repeat([0, 1], N_PAIRS), times_ms, END_MS)
    return before, circuit.run(spikes, neurons=[0], every_ms=1.0)


def expected_f(lag_ms):
    """Return F right after each output spike, by the equations: the trace and F decay between pairs."""
    trace, f, found = 0.0, 0.0, []
    for _ in range(N_PAIRS):
        trace = trace * np.exp(-INTERVAL_MS / RULE.tau_trace_ms) + 1.0
        f = f * np.exp(-INTERVAL_MS / RULE.memory_ms) + RULE.pull * trace * np.exp(-lag_ms / RULE.tau_trace_ms)
        found.append(f)
    return np.array(found)


def time_constant_ms(time_ms, values):
    """Return the time constant of an exponential decay, by a straight line through the logarithms."""
    return float(-1 / np.polyfit(time_ms, np.log(values), 1)[0])


def draw(before, response, window):
    """Draw the protocol, F of the weak synapse, and the window."""
    sampled = response.sampled
    with house_style():
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        panels = figure.subplot_mosaic([["protocol", "window"], ["f", "window"]], width_ratios=[1.5, 1])
        plot.spike_rows({"output": response.time_ms, "input": before}, panels["protocol"])
        panels["protocol"].set(xlim=(0, END_MS), xticks=[])
        plot.short_term(response, panels["f"], inputs=[0])
        after = sampled.time_ms > response.time_ms[-1]
        theory = expected_f(10.0)[-1] * np.exp(-(sampled.time_ms[after] - response.time_ms[-1]) / RULE.memory_ms)
        panels["f"].plot(sampled.time_ms[after], theory, "--", color=BLUE, linewidth=1, label="exp(-t / 300 ms)")
        panels["f"].legend(frameon=False)
        closed_form = np.where(window.lag_ms >= 0, RULE.pull * np.exp(-window.lag_ms / RULE.tau_trace_ms), 0.0)
        plot.stdp_window(window, panels["window"], closed_form=closed_form)
        panels["window"].set_ylabel("F after one pair")
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="one_synapse.png")
    out = parser.parse_args().out
    before, response = pair()
    window = plot.measure_stdp_window(RULE, longest_ms=60.0)
    draw(before, response, window).savefig(out)
    sampled, last_ms = response.sampled, response.time_ms[-1]
    after, causal = sampled.time_ms > last_ms, window.lag_ms >= 0
    print(f"lags of the output spikes: {(response.time_ms - before).tolist()} ms")
    peaks = [sampled.short_term[np.searchsorted(sampled.time_ms, at, side="right"), 0, 0] for at in response.time_ms]
    print(f"F within 1 ms after each pair: {np.round(peaks, 4).tolist()}")
    print(f"by the equations at the spike: {np.round(expected_f(10.0), 4).tolist()}")
    springs_back_ms = time_constant_ms(sampled.time_ms[after], sampled.short_term[after, 0, 0])
    window_ms = time_constant_ms(window.lag_ms[causal], window.change[causal])
    print(f"time constant of the decay {springs_back_ms:.1f} ms, of the window {window_ms:.1f} ms")
    print(f"W before and after: {WEAK} and {response.weights[0, 0]}")
