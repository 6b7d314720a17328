"""A trained network, run on still images, or on a stream with or without short-term STDP.

The functions are pure: they copy a state before compiled code writes to it. `StreamRun` owns its state.
"""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._plasticity import LongTerm, ShortTerm, prepare_short_term
from springback.spiking._present import present_frames, schedule_of
from springback.spiking._random import Draws, seed_of
from springback.spiking._state import CircuitState, RunState, copied_run, rest_state, short_term_rest
from springback.spiking._state_check import check_run
from springback.spiking.constants import circuit_constants
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import Circuit, Presentation, ShortTermStdp, Streaming
from springback.spiking.weights import Weights, check_weights

Counts = NDArray[np.int32]

LABELLING, TESTING, STREAMING, TRAINING = range(4)
"""The purpose of a presentation, which is part of the key of its random stream."""

IMAGES_PER_SHARD = 500
"""Number of images in a shard; they are shown one after another, and each shard starts at rest."""


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
    rows = frame_rows(frames, n_inputs).view()
    rows.flags.writeable = (
        False  # else the kernel would be compiled twice, for frames that may and may not be written to
    )
    return rows


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

    def run(start: int) -> None:
        shard = slice(start, min(start + IMAGES_PER_SHARD, len(rows)))
        state = rest_state(circuit, weights.theta, weights.resting.dtype.name)
        draws = Draws(seed_of(seed), purpose, first_number + start)
        counts[shard] = show_frames(circuit, presentation or Presentation(), weights.resting, state, rows[shard], draws)

    each(run, range(0, len(rows), IMAGES_PER_SHARD), workers)
    return counts


def init(weights: Weights, circuit: Circuit, short_term: ShortTermStdp | None) -> RunState:
    """The state of a stream at rest."""
    weights = check_weights(weights, circuit)
    dtype = weights.resting.dtype.name
    per_synapse = short_term is not None and np.ndim(short_term.memory_ms) == 2
    pulled = None if short_term is None else short_term_rest(circuit, dtype, per_synapse=per_synapse)
    return RunState(rest_state(circuit, weights.theta, dtype), pulled)


class StreamRun:
    """A stream that owns its state, which is checked and copied once and then moved by every call of `show`.

    Parameters
    ----------
    state : RunState
        Where the stream begins; it is not changed.
    short_term : ShortTermStdp | None
        The plasticity that the state was made for.
    """

    def __init__(
        self, weights: Weights, state: RunState, *, circuit: Circuit, short_term: ShortTermStdp | None
    ) -> None:
        self._weights = check_weights(weights, circuit)
        self._circuit, self._short_term = circuit, short_term
        self._check(state)
        self.state = copied_run(state)

    def show(
        self, rows: NDArray[np.uint8], presentation: Streaming, *, seed: int = 0, recorder: Recorder | None = None
    ) -> Counts:
        """Output spikes (n, n_neurons) to the next frames, (n, n_inputs) as from `flat_frames`."""
        if not isinstance(presentation, Streaming):
            raise TypeError(f"presentation must be a Streaming; got {type(presentation).__name__}")
        weights, now, pulled, n_seen = self._weights, self.state.circuit, self.state.short_term, self.state.n_seen
        theta = weights.theta + weights.theta.dtype.type(presentation.threshold_shift_mv)
        now.theta[:] = theta
        plastic = None
        if self._short_term is not None and pulled is not None:
            plastic = prepare_short_term(self._short_term, pulled, self._circuit, weights, theta)
        draws = Draws(seed_of(seed), STREAMING, n_seen)
        counts = show_frames(
            self._circuit, presentation, weights.resting, now, rows, draws, short_term=plastic, recorder=recorder
        )
        self.state = self.state._replace(n_seen=n_seen + len(rows))
        return counts

    def _check(self, state: RunState) -> None:
        short_term = self._short_term
        if (short_term is None) != (state.short_term is None):
            made, asked = ("without", "with") if state.short_term is None else ("with", "without")
            raise ValueError(
                f"state must have been made for the short_term of this call; got a state {made} short-term "
                f"plasticity in a call {asked} it: make it with init(weights, circuit, short_term)"
            )
        per_synapse = short_term is not None and np.ndim(short_term.memory_ms) == 2
        check_run(state, self._circuit, self._weights.resting.dtype.name, per_synapse=per_synapse)


def track(
    weights: Weights,
    state: RunState,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    presentation: Streaming,
    short_term: ShortTermStdp | None = None,
    seed: int = 0,
    recorder: Recorder | None = None,
) -> tuple[RunState, Counts]:
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
    rows = flat_frames(frames, circuit.n_inputs)
    run = StreamRun(weights, state, circuit=circuit, short_term=short_term)
    counts = run.show(rows, presentation, seed=seed, recorder=recorder)
    return run.state, counts


def show_frames(
    circuit: Circuit,
    presentation: Presentation,
    resting: NDArray[Any],
    state: CircuitState,
    rows: NDArray[np.uint8],
    draws: Draws,
    *,
    long_term: LongTerm | None = None,
    short_term: ShortTerm | None = None,
    recorder: Recorder | None = None,
) -> Counts:
    """Output spikes (n, n_neurons) to frames, one after the other; changes the state and, when learning, `resting`."""
    constants, schedule = circuit_constants(circuit, resting.dtype.name), schedule_of(presentation, circuit)
    counts = np.zeros((len(rows), circuit.n_neurons), np.int32)
    plastic, show, watch = (long_term, short_term), present_frames, None
    if recorder is not None:
        has = {"long_term": long_term is not None, "short_term": short_term is not None}
        watch = checked_recorder(recorder).begin(circuit, state, n_in_most=len(schedule.which), **has)
    done = 0
    while True:
        left = draws._replace(number=draws.number + done)
        watched = (watch, None if watch is None else watch.monitors)
        done += show(constants, resting, state, schedule, rows[done:], left, counts[done:], *plastic, *watched)
        if recorder is None:
            return counts
        if done == len(rows):
            recorder.note(state)
            return counts
        watch = recorder.make_room(state)


def checked_recorder(recorder: Any) -> Recorder:
    """Refuse what is not a recorder."""
    if not isinstance(recorder, Recorder):
        raise TypeError(f"recorder must be a Recorder; got {type(recorder).__name__}")
    return recorder


def each(run: Any, items: Any, workers: int) -> list[Any]:
    """Apply `run` to each item on `workers` threads (compiled code releases the lock); results in order."""
    check.integer("workers", workers, low=1)
    if workers == 1:
        return [run(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, items))
