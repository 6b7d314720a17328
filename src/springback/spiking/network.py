"""A trained network, run on still images, or on a stream with or without short-term STDP.

The functions are pure: they copy a state before compiled code writes to it.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._plasticity import ShortTerm, prepare_short_term
from springback.spiking._present import present_frames, schedule_of
from springback.spiking._random import Draws, seed_of
from springback.spiking._showing import show_frames
from springback.spiking._state import (
    STEP,
    CircuitState,
    ShortTermState,
    copied,
    copied_short_term,
    rest_state,
    short_term_rest,
)
from springback.spiking._state_check import check_circuit_state, check_n_seen, check_short_term_state
from springback.spiking.constants import circuit_constants
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import Circuit, Presentation, ShortTermStdp, Streaming
from springback.spiking.weights import Weights, check_weights

Counts = NDArray[np.int32]

LABELLING, TESTING, STREAMING, TRAINING = range(4)
"""The purpose of a presentation, which is part of the key of its random stream."""

IMAGES_PER_SHARD = 500
"""Number of images in a shard; they are shown one after another, and each shard starts at rest."""


class StreamState(NamedTuple):
    """The state of a stream: the circuit, F (or None without short-term STDP), and the number of frames seen."""

    circuit: CircuitState
    short_term: ShortTermState | None
    n_seen: int


def flat_frames(frames: NDArray[np.uint8], n_inputs: int) -> NDArray[np.uint8]:
    """Frames of any shape as rows of `n_inputs` pixels."""
    if not isinstance(frames, np.ndarray):
        raise TypeError(
            f"frames must be a NumPy array of uint8 (brightness 0 ... 255); got {type(frames).__name__}: "
            "convert it with np.asarray(frames, np.uint8)"
        )
    if frames.dtype != np.uint8:
        remedy = "convert it with frames.astype(np.uint8)"
        if np.issubdtype(frames.dtype, np.floating):
            remedy = "if its values lie within 0 ... 1, multiply by 255 and convert: (255 * frames).astype(np.uint8)"
        raise ValueError(
            f"frames must be a NumPy array of uint8 (brightness 0 ... 255); got dtype {frames.dtype}: {remedy}"
        )
    return frame_rows(frames, n_inputs)


def frame_rows(frames: NDArray[Any], n_inputs: int) -> NDArray[Any]:
    """Frames (n, ...) of `n_inputs` numbers each as rows, contiguous."""
    if frames.ndim < 2 or math.prod(frames.shape[1:]) != n_inputs:
        remedy = ": a single frame is frames[None]" if math.prod(frames.shape) == n_inputs else ""
        raise ValueError(f"frames must have {n_inputs} pixels each, (n, ...); got shape {frames.shape}{remedy}")
    return np.ascontiguousarray(frames.reshape(len(frames), n_inputs))


def respond(
    weights: Weights,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    presentation: Presentation | None = None,
    seed: int = 0,
    purpose: int = TESTING,
    first_number: int = 0,
    workers: int = 1,
) -> Counts:
    """Output spikes (n, n_neurons) of the frozen network to still images; an image may be shown again, brighter.

    Images are shown in shards of `IMAGES_PER_SHARD`, counted from `first_number`, each from rest; the shards run on
    `workers` threads, and the result is the same for any number of them.
    """
    weights = check_weights(weights, circuit)
    rows = flat_frames(frames, circuit.n_inputs)
    counts = np.zeros((len(rows), circuit.n_neurons), np.int32)
    check.integer("first_number", first_number, low=0)
    check.require(
        first_number % IMAGES_PER_SHARD == 0, "first_number", f"be a multiple of {IMAGES_PER_SHARD}", first_number
    )
    constants = circuit_constants(circuit, weights.resting.dtype.name)

    def run(start: int) -> None:
        shard = slice(start, min(start + IMAGES_PER_SHARD, len(rows)))
        present_frames(
            constants,
            weights.resting,
            rest_state(circuit, weights.theta, weights.resting.dtype.name),
            schedule_of(presentation or Presentation(), circuit),
            rows[shard],
            Draws(seed_of(seed), purpose, first_number + start),
            counts[shard],
            None,
            None,
        )

    each(run, range(0, len(rows), IMAGES_PER_SHARD), workers)
    return counts


def init(weights: Weights, circuit: Circuit, short_term: ShortTermStdp | None) -> StreamState:
    """The state of a stream at rest."""
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    return StreamState(
        circuit=rest_state(circuit, weights.theta, dtype),
        short_term=None
        if short_term is None
        else short_term_rest(circuit, dtype, per_synapse=np.ndim(short_term.memory_ms) == 2),
        n_seen=0,
    )


def track(
    weights: Weights,
    state: StreamState,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    presentation: Streaming,
    short_term: ShortTermStdp | None = None,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> tuple[StreamState, Counts]:
    """Show a stream's next frames; returns its new state and the output spikes (n, n_neurons) to each frame.

    Frames follow each other as `presentation` says: without rest, without being repeated, and with thresholds shifted.
    Any division of a stream into calls gives the same result. With `short_term` None the weights are static.

    Frames of another shape or dtype are refused. The given state is never changed, so the stream can continue from it.
    Replace a missing frame by a black one: time passes and nothing is seen.

    Parameters
    ----------
    recorder : Recorder | None
        Receives the spikes of this call and what its monitors watch.
    """
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    rows = flat_frames(frames, circuit.n_inputs)
    _check_state(state, circuit, short_term, dtype)
    counts = np.zeros((len(rows), circuit.n_neurons), np.int32)
    theta = weights.theta + weights.theta.dtype.type(_shift_of(presentation))
    now = copied(state.circuit)._replace(theta=theta.copy())
    plastic: ShortTerm | None = None
    if short_term is not None and state.short_term is not None:
        plastic = prepare_short_term(short_term, copied_short_term(state.short_term), circuit, weights, theta)
    show_frames(
        circuit,
        weights.resting,
        now,
        schedule_of(presentation, circuit),
        rows,
        Draws(seed_of(seed), STREAMING, state.n_seen),
        counts,
        None,
        plastic,
        recorder,
    )
    return StreamState(now, plastic.state if plastic else None, state.n_seen + len(rows)), counts


def _shift_of(presentation: Streaming) -> float:
    if not isinstance(presentation, Streaming):
        raise TypeError(f"presentation must be a Streaming; got {type(presentation).__name__}")
    return presentation.threshold_shift_mv


def _check_state(state: StreamState, circuit: Circuit, short_term: ShortTermStdp | None, dtype: str) -> None:
    if (short_term is None) != (state.short_term is None):
        made, asked = ("without", "with") if state.short_term is None else ("with", "without")
        raise ValueError(
            f"state must have been made for the short_term of this call; got a state {made} short-term "
            f"plasticity in a call {asked} it: make it with init(weights, circuit, short_term)"
        )
    check_n_seen(state.n_seen)
    check_circuit_state(state.circuit, circuit, dtype)
    if short_term is not None and state.short_term is not None:
        per_synapse = np.ndim(short_term.memory_ms) == 2
        step = int(state.circuit.tally[STEP])
        check_short_term_state(state.short_term, circuit, dtype, step, per_synapse=per_synapse)


def each(run: Any, items: Any, workers: int) -> list[Any]:
    """Apply `run` to each item on `workers` threads (compiled code releases the lock); results in order."""
    check.integer("workers", workers, low=1)
    if workers == 1:
        return [run(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, items))
