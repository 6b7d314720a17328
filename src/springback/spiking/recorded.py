"""Runs that keep what happened inside: given spike trains in place of frames, and frames with everything recorded.

For data from elsewhere (event cameras, other simulators), for figures, and for checking the kernel against other
programs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import long_term as learn
from springback.spiking import short_term as adapt
from springback.spiking.constants import circuit_constants, long_term_constants, short_term_constants
from springback.spiking.encoding import SpikeTrain, check_whole_numbers, draw_spikes, spike_train
from springback.spiking.kernel import run_steps
from springback.spiking.network import (
    STREAMING,
    Floats,
    StreamState,
    Weights,
    check_weights,
    copied,
    flat_frames,
    init,
)
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp
from springback.spiking.present import schedule_of
from springback.spiking.random import seed_of, stream_key
from springback.spiking.recording import N_OUT, N_SAMPLES, new_recorder
from springback.spiking.state import N_SLOTS, STEP, THETA_SCALE, ShortTermState, long_term_rest, rest_state


@dataclass(frozen=True, eq=False)
class Recording:
    """What happened in a run; times are steps from its beginning.

    Parameters
    ----------
    in_index, in_step
        Input spikes.
    out_index, out_step
        Output spikes.
    neurons : NDArray[np.int32]
        The neurons that were watched (m).
    sample_step : NDArray[np.int64]
        (samples,) when they were.
    potential_mv : Floats
        (samples, m).
    short_term : Floats
        (samples, n_inputs, m) their F; empty without short-term STDP.
    weights : Weights
        As they are after the run.
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
    shift = 0.0 if short_term is None else short_term.threshold_shift_mv
    state = rest_state(circuit, frozen.theta + frozen.theta.dtype.type(shift), dtype)
    recorder = new_recorder(
        circuit, n_steps, neurons=neurons, every_steps=every_steps, short_term=short_term is not None, dtype=dtype
    )
    train = spike_train(index, step, n_steps)
    plastic: list[Any] = [None] * 6
    keep_theta = 1.0
    if long_term is not None:
        stdp = long_term_constants(long_term, circuit, dtype)
        plastic[:2] = stdp, long_term_rest(circuit, dtype)
        keep_theta = stdp.keep_theta
    if short_term is not None:
        stretch = init(frozen, circuit, short_term).short_term
        constants, rates, soma = short_term_constants(short_term, circuit, *frozen, dtype)
        plastic[2:] = constants, stretch, rates, soma
    piece = normalise_every_steps or max(n_steps, 1)
    counts = np.zeros(circuit.n_neurons, np.int32)
    advance: Any = run_steps
    everyone = np.arange(circuit.n_neurons, dtype=np.int32)
    for start in range(0, n_steps, piece):
        if long_term is not None and normalise_every_steps is not None:
            learn.normalise(resting, everyone, len(everyone), plastic[0])
        advance(
            circuit_constants(circuit, dtype),
            resting,
            state,
            train.which,
            train.first[start:],
            min(piece, n_steps - start),
            counts,
            keep_theta,
            *plastic,
            recorder,
        )
    theta = (state.theta * state.level[THETA_SCALE]).astype(dtype) if long_term is not None else frozen.theta
    return _recording(train, recorder, Weights(resting, theta), state.v, every_steps)


def record_stream(
    weights: Weights,
    frames: NDArray[np.uint8],
    *,
    circuit: Circuit,
    presentation: Presentation,
    short_term: ShortTermStdp | None = None,
    seed: int = 0,
    neurons: Sequence[int] = (),
    every_steps: int = 1,
) -> Recording:
    """As `track` on a new stream, with everything recorded: the same spikes, more slowly and in more memory."""
    frozen = check_weights(weights, circuit)
    dtype = frozen.resting.dtype.name
    rows = flat_frames(frames, circuit.n_inputs)
    state = init(frozen, circuit, short_term)
    schedule = schedule_of(presentation, circuit)
    recorder = new_recorder(
        circuit,
        len(rows) * schedule.n_show,
        neurons=neurons,
        every_steps=every_steps,
        short_term=short_term is not None,
        dtype=dtype,
    )
    plastic: list[Any] = [None] * 4
    if short_term is not None:
        constants, rates, soma = short_term_constants(short_term, circuit, *frozen, dtype)
        plastic = [constants, state.short_term, rates, soma]
    counts = np.zeros(circuit.n_neurons, np.int32)
    advance: Any = run_steps
    inputs: list[SpikeTrain] = []
    for number, frame in enumerate(rows):
        key = np.uint64(stream_key(seed_of(seed), STREAMING, number, 0))
        n = draw_spikes(
            frame, schedule.rates[0], schedule.n_show, key, schedule.aliases, schedule.which, schedule.first
        )
        inputs.append(SpikeTrain(schedule.which[:n].copy(), schedule.first.copy()))
        advance(
            circuit_constants(circuit, dtype),
            frozen.resting,
            state.circuit,
            schedule.which,
            schedule.first,
            schedule.n_show,
            counts,
            1.0,
            None,
            None,
            *plastic,
            recorder,
        )
        if short_term is not None:
            adapt.end_frame(state.short_term, plastic[2], plastic[0].negligible, state.circuit.tally[STEP])
    index = np.concatenate([one.which for one in inputs]) if inputs else np.zeros(0, np.int32)
    offsets = np.cumsum([0] + [len(one.which) for one in inputs])
    pieces = [one.first[:-1] + at for one, at in zip(inputs, offsets[:-1], strict=True)]
    first = np.concatenate([*pieces, offsets[-1:]])
    return _recording(SpikeTrain(index, first), recorder, frozen, state.circuit.v, every_steps)


def short_term_of(state: StreamState, circuit: Circuit) -> Floats:
    """F of all synapses of a stream as it stands, (n_inputs, n_neurons).

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
    stretch: ShortTermState = copied(state.short_term)
    for slot in range(stretch.tally[N_SLOTS]):
        dense[:, stretch.slots["neuron"][slot]] = stretch.short[slot] * stretch.slots["scale"][slot]
    return dense


def _recording(train: SpikeTrain, recorder: Any, weights: Weights, v: Floats, every_steps: int) -> Recording:
    n_out, n_samples = recorder.tally[N_OUT], recorder.tally[N_SAMPLES]
    return Recording(
        in_index=train.which,
        in_step=np.repeat(np.arange(len(train.first) - 1), np.diff(train.first)),
        out_index=recorder.out_index[:n_out],
        out_step=recorder.out_step[:n_out],
        neurons=recorder.neurons,
        sample_step=np.arange(n_samples) * every_steps,
        potential_mv=recorder.potential[:n_samples],
        short_term=recorder.short_term[:n_samples],
        weights=weights,
        v_mv=v,
    )


def _check_spikes(index: NDArray[np.integer], step: NDArray[np.integer], n_steps: int, circuit: Circuit) -> None:
    for name, value, top in (("index", index, circuit.n_inputs), ("step", step, n_steps)):
        check_whole_numbers(name, value)
        inside = bool(((value >= 0) & (value < top)).all())
        check.require(inside, name, f"lie within 0 ... {top - 1}", (value.min(), value.max()) if len(value) else "none")
    check.require(len(index) == len(step), "index and step", "have the same length", (len(index), len(step)))
