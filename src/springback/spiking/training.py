"""Training: one image after another, each once, without labels; it can stop and resume after any image."""

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import _long_term as learn
from springback.spiking._plasticity import prepare_long_term
from springback.spiking._random import Draws, seed_of
from springback.spiking._state import CircuitState, LongTermState, RunState, copied, long_term_rest, rest_state
from springback.spiking._state_check import check_run
from springback.spiking.constants import long_term_constants
from springback.spiking.inference import TRAINING, Counts, flat_frames, show_frames
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.weights import Floats, Weights, check_weights


def init_training(circuit: Circuit, stdp: LongTermStdp, *, seed: int = 0, dtype: str = "float32") -> RunState:
    """Random weights `weight_start_max * (uniform(0, 1) + 0.01)`, normalised; thresholds at their start."""
    stdp_constants = long_term_constants(stdp, circuit, dtype)
    rng = np.random.default_rng([int(seed_of(seed)), TRAINING])
    resting = (stdp.weight_start_max * (rng.random((circuit.n_inputs, circuit.n_neurons)) + 0.01)).astype(dtype)
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    learn.normalise(resting, everyone, circuit.n_neurons, stdp_constants)
    theta = np.full(circuit.n_neurons, stdp.theta_start_mv)
    return RunState(rest_state(circuit, theta, dtype), traces=long_term_rest(circuit, dtype), resting=resting)


def resume_training(weights: Weights, circuit: Circuit, *, n_seen: int) -> RunState:
    """The state to continue training from given weights after `n_seen` images, with the circuit at rest."""
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    at_rest = rest_state(circuit, weights.theta, dtype)
    return RunState(at_rest, traces=long_term_rest(circuit, dtype), resting=weights.resting.copy(), n_seen=n_seen)


def train(
    state: RunState,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    stdp: LongTermStdp,
    presentation: Presentation | None = None,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> tuple[RunState, Counts]:
    """Learn from the next images; returns the new state and their output spikes (n, n_neurons).

    Splitting the images into calls in any way gives bit-identical results. The given state is never changed.

    Parameters
    ----------
    recorder : Recorder | None
        Receives the spikes of this call and what its monitors watch.
    """
    resting, traces = parts_of_training(state, circuit)
    resting, traces = resting.copy(), copied(traces)
    rows = flat_frames(frames, circuit.n_inputs)
    now, dtype = copied(state.circuit), resting.dtype.name
    draws, learning = Draws(seed_of(seed), TRAINING, state.n_seen), prepare_long_term(stdp, traces, circuit, dtype)
    counts = show_frames(
        circuit, presentation or Presentation(), resting, now, rows, draws, long_term=learning, recorder=recorder
    )
    return RunState(now, traces=traces, resting=resting, n_seen=state.n_seen + len(rows)), counts


def parts_of_training(state: RunState, circuit: Circuit) -> tuple[Floats, LongTermState]:
    """The weights and traces of a training; a state that does not fit this circuit, or does not learn, is refused."""
    if not isinstance(state, RunState) or state.resting is None or state.traces is None:
        raise TypeError("state must be that of a training: init_training or train gives one")
    dtype = getattr(state.resting, "dtype", np.dtype(np.float32)).name
    check.one_of("state.resting.dtype", dtype, ("float32", "float64"))
    check_run(state, circuit, dtype)
    check_weights(Weights(state.resting, thresholds_of(state.circuit)), circuit)
    return state.resting, state.traces


def thresholds_of(circuit: CircuitState) -> Floats:
    """Thresholds in mV above the offset, in the dtype of the training."""
    return np.asarray((circuit.theta * circuit.common["theta_scale"][0]).astype(circuit.theta.dtype))


def learned(state: RunState, stdp: LongTermStdp, circuit: Circuit) -> Weights:
    """What has been learned so far: normalised weights and the thresholds."""
    resting = parts_of_training(state, circuit)[0].copy()
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    learn.normalise(resting, everyone, circuit.n_neurons, long_term_constants(stdp, circuit, resting.dtype.name))
    return Weights(resting, thresholds_of(state.circuit))
