"""Recorded runs, driven by frames or by given spike trains.

They are meant for external data (event cameras, other simulators), for figures, and for comparing the kernel with other
programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import _long_term as learn
from springback.spiking._kernel import run_steps
from springback.spiking._plasticity import LongTerm, ShortTerm, prepare_long_term, prepare_short_term
from springback.spiking._present import schedule_of
from springback.spiking._random import seed_of, stream_key
from springback.spiking._state import N_SLOTS, THETA_SCALE, long_term_rest, rest_state, short_term_rest
from springback.spiking.constants import circuit_constants
from springback.spiking.encoding import SpikeTrain, check_whole_numbers, draw_spikes, spike_train
from springback.spiking.network import STREAMING, StreamState, flat_frames, init, track
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp, Streaming
from springback.spiking.recording import Recorder, frame_steps, init_recorder, new_recorder
from springback.spiking.weights import Floats, Weights, check_weights


@dataclass(frozen=True, eq=False)
class Recording:
    """The record of a run; times are steps since its start.

    Parameters
    ----------
    in_index, in_step
        Input spikes.
    out_index, out_step
        Output spikes.
    neurons : NDArray[np.int32]
        The neurons that were sampled (m).
    sample_step : NDArray[np.int64]
        (samples,) the step of each sample.
    potential_mv : Floats
        (samples, m).
    short_term : Floats
        (samples, n_inputs, m) their F; empty without short-term STDP.
    weights : Weights
        The weights after the run.
    v_mv : Floats
        (n_neurons,) potentials after the run.
    """

    in_index: NDArray[np.int32]
    in_step: NDArray[np.int64]
    out_index: NDArray[np.int32]
    out_step: NDArray[np.int64]
    neurons: NDArray[np.int32]
    sample_step: NDArray[np.int64]
    potential_mv: Floats
    short_term: Floats
    weights: Weights
    v_mv: Floats


def simulate_spikes(
    weights: Weights,
    index: NDArray[np.integer],
    step: NDArray[np.integer],
    n_steps: int,
    *,
    circuit: Circuit,
    long_term: LongTermStdp | None = None,
    short_term: ShortTermStdp | None = None,
    normalise_every_steps: int | None = None,
    neurons: Sequence[int] = (),
    every_steps: int = 1,
) -> Recording:
    """Run the circuit from rest, driven by given input spikes: input `index[i]` spikes in step `step[i]`.

    The dtype of the weights is that of the simulation.

    Parameters
    ----------
    long_term : LongTermStdp | None
        Learn while running; with `normalise_every_steps`, weights are normalised at these intervals.
    short_term : ShortTermStdp | None
        Adapt while running.
    neurons, every_steps
        Record potentials (and F) of these neurons at this interval.

    Examples
    --------
    >>> circuit = Circuit(n_inputs=3, n_neurons=2)
    >>> weights = Weights(np.full((3, 2), [30.0, 0.0]), np.full(2, 20.0))
    >>> run = simulate_spikes(weights, np.array([0, 1, 2]), np.array([5, 6, 7]), 100, circuit=circuit)
    >>> run.out_index
    array([0], dtype=int32)
    """
    check.integer("n_steps", n_steps, low=0)
    _check_spikes(index, step, n_steps, circuit)
    both = long_term is not None and short_term is not None
    check.require(not both, "long_term", "be None if short_term is given, since a run has one or the other", long_term)
    if normalise_every_steps is not None:
        check.integer("normalise_every_steps", normalise_every_steps, low=1)
    frozen = check_weights(weights, circuit)
    dtype = frozen.resting.dtype.name
    resting = frozen.resting if long_term is None else frozen.resting.copy()
    state = rest_state(circuit, frozen.theta, dtype)
    recorder = new_recorder(
        circuit, n_steps, neurons=neurons, every_steps=every_steps, short_term=short_term is not None, dtype=dtype
    )
    train = spike_train(index, step, n_steps)
    learning: LongTerm | None = None
    pulling: ShortTerm | None = None
    if long_term is not None:
        learning = prepare_long_term(long_term, long_term_rest(circuit, dtype), circuit, dtype)
    if short_term is not None:
        at_rest = short_term_rest(circuit, dtype, per_synapse=np.ndim(short_term.memory_ms) == 2)
        pulling = prepare_short_term(short_term, at_rest, circuit, frozen, frozen.theta)
    piece = normalise_every_steps or max(n_steps, 1)
    counts = np.zeros(circuit.n_neurons, np.int32)
    advance: Any = run_steps
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    for start in range(0, n_steps, piece):
        if learning is not None and normalise_every_steps is not None:
            learn.normalise(resting, everyone, len(everyone), learning.constants)
        advance(
            circuit_constants(circuit, dtype),
            resting,
            state,
            SpikeTrain(train.which, train.first[start:]),
            min(piece, n_steps - start),
            counts,
            learning,
            pulling,
            recorder,
        )
    theta = (state.theta * state.level[THETA_SCALE]).astype(dtype) if long_term is not None else frozen.theta
    in_step = np.repeat(np.arange(n_steps), np.diff(train.first))
    return _recording((train.which, in_step), recorder, Weights(resting, theta), state.v)


def record_stream(
    weights: Weights,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    presentation: Streaming,
    short_term: ShortTermStdp | None = None,
    seed: int = 0,
    neurons: Sequence[int] = (),
    every_steps: int = 1,
) -> Recording:
    """Run `track` on a new stream and record everything: the same spikes, but it needs more time and memory."""
    frozen = check_weights(weights, circuit)
    rows = flat_frames(frames, circuit.n_inputs)
    recorder = init_recorder(
        circuit,
        presentation,
        len(rows),
        neurons=neurons,
        every_steps=every_steps,
        short_term=short_term is not None,
        dtype=frozen.resting.dtype.name,
    )
    state, _ = track(
        frozen,
        init(frozen, circuit, short_term),
        rows,
        circuit=circuit,
        presentation=presentation,
        short_term=short_term,
        seed=seed,
        recorder=recorder,
    )
    inputs = _input_spikes(rows, circuit, presentation, seed)
    return _recording(inputs, recorder, frozen, state.circuit.v)


def _input_spikes(
    rows: NDArray[np.uint8], circuit: Circuit, presentation: Presentation, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The input spikes of a stream from its beginning, as `track` draws them: which input, and in which step."""
    schedule, per_frame = schedule_of(presentation, circuit), frame_steps(presentation, circuit)
    which: list[NDArray[np.int32]] = [np.zeros(0, np.int32)]
    when: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for number, row in enumerate(rows):
        key = np.uint64(stream_key(seed_of(seed), STREAMING, number, 0))
        n = draw_spikes(row, schedule.rates[0], schedule.n_show, key, schedule.aliases, schedule.which, schedule.first)
        which.append(schedule.which[:n].copy())
        when.append(number * per_frame + np.repeat(np.arange(schedule.n_show), np.diff(schedule.first)))
    return np.concatenate(which), np.concatenate(when)


def short_term_of(state: StreamState, circuit: Circuit) -> Floats:
    """The current F of all synapses of a stream, (n_inputs, n_neurons).

    Examples
    --------
    >>> circuit = Circuit(n_inputs=2, n_neurons=3)
    >>> weights = Weights(np.zeros((2, 3)), np.zeros(3))
    >>> short_term_of(init(weights, circuit, ShortTermStdp()), circuit).shape
    (2, 3)
    """
    dense = np.zeros((circuit.n_inputs, circuit.n_neurons), state.circuit.v.dtype)
    if state.short_term is None:
        return dense
    stretch = state.short_term
    for slot in range(stretch.tally[N_SLOTS]):
        dense[:, stretch.slots["neuron"][slot]] = stretch.short[slot] * stretch.slots["scale"][slot]
    return dense


def _recording(
    inputs: tuple[NDArray[np.int32], NDArray[np.int64]], recorder: Recorder, weights: Weights, v: Floats
) -> Recording:
    in_index, in_step = inputs
    out_index, out_step = recorder.spikes()
    sample_step, potential, short_term = recorder.samples()
    return Recording(
        in_index=in_index,
        in_step=in_step,
        out_index=out_index,
        out_step=out_step,
        neurons=recorder.neurons,
        sample_step=sample_step,
        potential_mv=potential,
        short_term=short_term,
        weights=weights,
        v_mv=v,
    )


def _check_spikes(index: NDArray[np.integer], step: NDArray[np.integer], n_steps: int, circuit: Circuit) -> None:
    for name, value, top in (("index", index, circuit.n_inputs), ("step", step, n_steps)):
        check_whole_numbers(name, value)
        inside = bool(((value >= 0) & (value < top)).all())
        check.require(inside, name, f"lie within 0 ... {top - 1}", (value.min(), value.max()) if len(value) else "none")
    check.require(len(index) == len(step), "index and step", "have the same length", (len(index), len(step)))
