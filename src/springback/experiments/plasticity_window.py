"""Fig. 2b: how far one pair of spikes pulls a synapse, and how the synapse springs back; measured on the simulator.

dF(tau) = pull * max(0, c + (1 - c) W) * exp(-tau / tau_trace)  for an output spike tau >= 0 after the input spike,
          0 otherwise;       afterwards F(t) = dF * exp(-t / tau_short_term)       (Eq. 1-3; Methods, "ST-STDP")
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import steps
from springback.spiking.network import Weights
from springback.spiking.params import Circuit, ShortTermStdp
from springback.spiking.recorded import simulate_spikes

Floats = NDArray[np.float64]

_TEACHER_WEIGHT = 1e4
_THETA_MV = 60.0


@dataclass(frozen=True, kw_only=True, eq=False)
class PlasticityWindow:
    """The window of short-term STDP and the relaxation, each as measured and in closed form.

    weights                         (m,) resting weights W of the measured synapses
    lag_ms                          (n,) output minus input spike
    change, expected_change         (m, n) what the pair adds to F
    pair_ms                         the lag of the pair whose relaxation is shown, on the strongest synapse
    time_ms                         (t,) time from the output spike
    efficacy, expected_efficacy     (t,) G = W + F of that synapse
    pull, c, tau_trace_ms, tau_short_term_ms   parameters of the rule
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
    c: float
    tau_trace_ms: float
    tau_short_term_ms: float


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

    >>> window = run(ShortTermStdp(pull=0.7, tau_trace_ms=20.0), weights=(1.0,))
    >>> window.lag_ms[40], window.change[0, 40].round(4), window.change[0, 39]
    (np.float64(0.0), np.float64(0.7), np.float64(0.0))
    """
    check.require(
        not isinstance(short_term.tau_short_term_ms, np.ndarray), "tau_short_term_ms", "be one number", "an array"
    )
    tau_ms = float(np.asarray(short_term.tau_short_term_ms))
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
    gain = short_term.pull * np.maximum(0.0, short_term.c + (1 - short_term.c) * np.array(weights))
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
        c=short_term.c,
        tau_trace_ms=short_term.tau_trace_ms,
        tau_short_term_ms=tau_ms,
    )
