"""A trained network and its ways of being run: pure functions that copy at the door.

`Weights` is what long-term learning writes; the functions here show it still images, or a stream with or without
short-term STDP.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import circuit_constants, short_term_constants
from springback.spiking.params import Circuit, Presentation, ShortTermStdp
from springback.spiking.present import present_frames, schedule_of
from springback.spiking.random import seed_of
from springback.spiking.state import STEP, CircuitState, ShortTermState, rest_state, short_term_rest
from springback.spiking.state_check import check_circuit_state, check_n_seen, check_short_term_state

Floats = NDArray[Any]
Counts = NDArray[np.int32]
State = TypeVar("State", bound=tuple[NDArray[Any], ...])

LABELLING, TESTING, STREAMING, TRAINING = range(4)
"""What a presentation is for: part of the name of its random stream."""

LARGEST_WEIGHT = 1e6
"""Beyond this a sum of weights could leave the range of single precision."""

IMAGES_PER_SHARD = 500
"""Images that follow each other in one circuit when many are shown at once; each shard starts at rest."""


class Weights(NamedTuple):
    """What long-term learning writes: `resting` (n_inputs, n_neurons), `theta` (n_neurons,) in mV above the offset."""

    resting: Floats
    theta: Floats


class StreamState(NamedTuple):
    """Where a stream stands: the circuit, F (or None without short-term STDP), and the number of frames seen."""

    circuit: CircuitState
    short_term: ShortTermState | None
    n_seen: int


def check_weights(weights: Weights, circuit: Circuit) -> Weights:
    """Refuse weights of the wrong shape, dtype or range; returns them read-only."""
    shape = (circuit.n_inputs, circuit.n_neurons)
    dtype = getattr(weights.resting, "dtype", np.float32)
    resting = check.array("Weights.resting", weights.resting, shape=shape, dtype=dtype)
    check.one_of("Weights.resting.dtype", resting.dtype.name, ("float32", "float64"))
    theta = check.array("Weights.theta", weights.theta, shape=(circuit.n_neurons,), dtype=resting.dtype)
    check.require(bool((resting >= 0).all()), "Weights.resting", "be >= 0 everywhere", float(resting.min()))
    for name, value in (("Weights.resting", resting), ("Weights.theta", theta)):
        largest = float(np.abs(value).max())
        check.require(largest <= LARGEST_WEIGHT, name, f"be at most {LARGEST_WEIGHT:g} everywhere", largest)
    return Weights(_frozen(resting), _frozen(theta))


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


def copied(state: State) -> State:
    """A state record with every array copied."""
    return type(state)(*(array.copy() for array in state))


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
    """Output spikes (n, n_neurons) of the frozen network to still images, each shown, and if need be shown again.

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
            seed_of(seed),
            purpose,
            first_number + start,
            counts[shard],
            *(None,) * 7,
        )

    each(run, range(0, len(rows), IMAGES_PER_SHARD), workers)
    return counts


def init(weights: Weights, circuit: Circuit, short_term: ShortTermStdp | None) -> StreamState:
    """A stream at rest."""
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    shift = 0.0 if short_term is None else short_term.threshold_shift_mv
    return StreamState(
        circuit=rest_state(circuit, weights.theta + weights.theta.dtype.type(shift), dtype),
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
    presentation: Presentation,
    short_term: ShortTermStdp | None = None,
    seed: int = 0,
) -> tuple[StreamState, Counts]:
    """Where a stream stands after its next frames, and the output spikes (n, n_neurons) to each of them.

    Frames follow each other as `presentation` says (see `streaming_at`): without rest and without being repeated. Any
    division of a stream into calls gives the same result. With `short_term` None the weights are static.

    Frames of another shape or dtype are refused wherever in the stream they come; the given state is never changed, so
    the stream can go on from it. A frame that is missing is best replaced by a black one: time passes, nothing is seen.
    """
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    rows = flat_frames(frames, circuit.n_inputs)
    counts = np.zeros((len(rows), circuit.n_neurons), np.int32)
    now = copied(state.circuit)
    if (short_term is None) != (state.short_term is None):
        begun, asked = ("without", "with") if state.short_term is None else ("with", "without")
        raise ValueError(
            f"state must have been made for the short_term of this call; got a state {begun} short-term "
            f"plasticity in a call {asked} it: make it with init(weights, circuit, short_term)"
        )
    _check_state(state, circuit, short_term, dtype)
    stretch = None if state.short_term is None else copied(state.short_term)
    plastic: tuple[Any, ...] = (None, None, None, None)
    if short_term is not None:
        constants, rates, soma = short_term_constants(short_term, circuit, *weights, dtype)
        plastic = (constants, stretch, rates, soma)
    show: Any = present_frames
    show(
        circuit_constants(circuit, dtype),
        weights.resting,
        now,
        schedule_of(presentation, circuit),
        rows,
        seed_of(seed),
        STREAMING,
        state.n_seen,
        counts,
        None,
        None,
        *plastic,
        None,
    )
    return StreamState(now, stretch, state.n_seen + len(rows)), counts


def _check_state(state: StreamState, circuit: Circuit, short_term: ShortTermStdp | None, dtype: str) -> None:
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


def _frozen(array: Floats) -> Floats:
    """A read-only view: compiled inference receives it and cannot learn."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
