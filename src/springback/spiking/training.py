"""Training: one image after another, each once, without labels; it can stop and resume after any image."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import _long_term as learn
from springback.spiking._plasticity import prepare_long_term
from springback.spiking._random import Draws, seed_of
from springback.spiking._state import CircuitState, LongTermState, copied, long_term_rest, rest_state
from springback.spiking._state_check import check_circuit_state, check_long_term_state, check_n_seen
from springback.spiking.constants import long_term_constants
from springback.spiking.inference import TRAINING, Counts, flat_frames, show_frames
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.weights import Floats, Weights, check_weights


class TrainingState(NamedTuple):
    """The state of training: the weights so far, the circuit, the traces, and the number of images seen."""

    resting: Floats
    circuit: CircuitState
    traces: LongTermState
    n_seen: int


def init_training(circuit: Circuit, stdp: LongTermStdp, *, seed: int = 0, dtype: str = "float32") -> TrainingState:
    """Random weights `weight_start_max * (uniform(0, 1) + 0.01)`, normalised; thresholds at their start."""
    stdp_constants = long_term_constants(stdp, circuit, dtype)
    rng = np.random.default_rng([int(seed_of(seed)), TRAINING])
    resting = (stdp.weight_start_max * (rng.random((circuit.n_inputs, circuit.n_neurons)) + 0.01)).astype(dtype)
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    learn.normalise(resting, everyone, circuit.n_neurons, stdp_constants)
    theta = np.full(circuit.n_neurons, stdp.theta_start_mv)
    return TrainingState(resting, rest_state(circuit, theta, dtype), long_term_rest(circuit, dtype), 0)


def resume_training(weights: Weights, circuit: Circuit, *, n_seen: int) -> TrainingState:
    """The state to continue training from given weights after `n_seen` images, with the circuit at rest."""
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    return TrainingState(
        weights.resting.copy(), rest_state(circuit, weights.theta, dtype), long_term_rest(circuit, dtype), n_seen
    )


def train(
    state: TrainingState,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    stdp: LongTermStdp,
    presentation: Presentation | None = None,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> tuple[TrainingState, Counts]:
    """Learn from the next images; returns the new state and their output spikes (n, n_neurons).

    Splitting the images into calls in any way gives bit-identical results. The given state is never changed.

    Parameters
    ----------
    recorder : Recorder | None
        Receives the spikes of this call and what its monitors watch.
    """
    dtype = check_training_state(state, circuit)
    rows = flat_frames(frames, circuit.n_inputs)
    resting, now, traces = state.resting.copy(), copied(state.circuit), copied(state.traces)
    draws, learning = Draws(seed_of(seed), TRAINING, state.n_seen), prepare_long_term(stdp, traces, circuit, dtype)
    counts = show_frames(
        circuit, presentation or Presentation(), resting, now, rows, draws, long_term=learning, recorder=recorder
    )
    return TrainingState(resting, now, traces, state.n_seen + len(rows)), counts


def check_training_state(state: TrainingState, circuit: Circuit) -> str:
    """Refuse a state that does not fit this circuit; returns the name of its dtype."""
    check_n_seen(state.n_seen)
    dtype = getattr(state.resting, "dtype", np.dtype(np.float32)).name
    check.one_of("state.resting.dtype", dtype, ("float32", "float64"))
    check_circuit_state(state.circuit, circuit, dtype)
    check_weights(Weights(state.resting, thresholds_of(state.circuit)), circuit)
    check_long_term_state(state.traces, circuit, dtype, state.circuit.step)
    return dtype


def thresholds_of(circuit: CircuitState) -> Floats:
    """Thresholds in mV above the offset, in the dtype of the training."""
    return np.asarray((circuit.theta * circuit.common["theta_scale"][0]).astype(circuit.theta.dtype))


def learned(state: TrainingState, stdp: LongTermStdp, circuit: Circuit) -> Weights:
    """What has been learned so far: normalised weights and the thresholds."""
    dtype = check_training_state(state, circuit)
    resting = state.resting.copy()
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    learn.normalise(resting, everyone, circuit.n_neurons, long_term_constants(stdp, circuit, dtype))
    return Weights(resting, thresholds_of(state.circuit))
