"""Runs that are recorded whole, driven by frames or by given spike trains.

They are meant for external data (event cameras, other simulators), for figures, and for comparing the kernel with other
programs. To record a training or a long stream, pass a `Recorder` to it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import _long_term as learn
from springback.spiking._plasticity import LongTerm, ShortTerm, prepare_long_term, prepare_short_term
from springback.spiking._present import run_stretch
from springback.spiking._state import RunState, copied_run, long_term_rest
from springback.spiking._state_check import check_run
from springback.spiking._watch import room_steps
from springback.spiking.constants import circuit_constants
from springback.spiking.encoding import SpikeTrain, check_whole_numbers, spike_train
from springback.spiking.inference import checked_recorder, init, track
from springback.spiking.monitors.monitor import Monitor
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.monitors.recording import Recording
from springback.spiking.params import Circuit, LongTermStdp, ShortTermStdp, Streaming
from springback.spiking.training import thresholds_of
from springback.spiking.weights import Floats, Weights, check_weights

MOST_STEPS_AT_ONCE = 1 << 28
"""The largest number of steps of one call; a longer run continues from its `state`."""


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
    recorder: Recorder | None = None,
    state: RunState | None = None,
) -> Recording:
    """Run the circuit, driven by given input spikes: input `index[i]` spikes in step `step[i]`.

    The dtype of the weights is that of the simulation.

    Parameters
    ----------
    long_term : LongTermStdp | None
        Learn while running; with `normalise_every_steps`, weights are normalised at these intervals.
    short_term : ShortTermStdp | None
        Adapt while running.
    neurons, every_steps
        Record potentials (and F) of these neurons at this interval.
    recorder : Recorder | None
        Record what its monitors watch, instead of `neurons`.
    state : RunState | None
        Continue from the `state` of an earlier recording (and with its `weights`, when learning); None: from rest.

    Examples
    --------
    >>> circuit = Circuit(n_inputs=3, n_neurons=2)
    >>> weights = Weights(np.full((3, 2), [30.0, 0.0]), np.full(2, 20.0))
    >>> run = simulate_spikes(weights, np.array([0, 1, 2]), np.array([5, 6, 7]), 100, circuit=circuit)
    >>> run.out_index
    array([0], dtype=int32)
    """
    check.integer("n_steps", n_steps, low=0, high=MOST_STEPS_AT_ONCE)
    _check_spikes(index, step, n_steps, circuit)
    both = long_term is not None and short_term is not None
    check.require(not both, "long_term", "be None if short_term is given, since a run has one or the other", long_term)
    if normalise_every_steps is not None:
        check.integer("normalise_every_steps", normalise_every_steps, low=1)
    recorder = _recorder(recorder, neurons, every_steps, short_term is not None)
    frozen = check_weights(weights, circuit)
    dtype = frozen.resting.dtype.name
    resting = frozen.resting if long_term is None else frozen.resting.copy()
    now = _state(state, circuit, frozen, long_term, short_term)
    learning: LongTerm | None = None
    pulling: ShortTerm | None = None
    if long_term is not None and now.traces is not None:
        learning = prepare_long_term(long_term, now.traces, circuit, dtype)
    if short_term is not None and now.short_term is not None:
        pulling = prepare_short_term(short_term, now.short_term, circuit, frozen, frozen.theta)
    train = spike_train(index, step, n_steps)
    watch = recorder.begin(
        circuit, now.circuit, n_in_most=0, long_term=long_term is not None, short_term=short_term is not None
    )
    recorder.add_inputs(train.which, np.repeat(np.arange(n_steps), np.diff(train.first)) + now.circuit.step)
    counts = np.zeros(circuit.n_neurons, np.int32)
    constants, everyone = circuit_constants(circuit, dtype), np.arange(circuit.n_neurons, dtype=np.int32)
    done, normalise_at, keep_theta = 0, 0, 1.0 if learning is None else learning.constants.keep_theta
    while done < n_steps:
        if learning is not None and normalise_every_steps is not None and done == normalise_at:
            learn.normalise(resting, everyone, len(everyone), learning.constants)
            normalise_at += normalise_every_steps
        stop = n_steps if normalise_at == 0 else min(normalise_at, n_steps)
        room = int(room_steps(watch, circuit.n_neurons))
        if room == 0:
            watch = recorder.make_room(now.circuit)
            continue
        block = min(stop - done, room)
        left = SpikeTrain(train.which, train.first[done:])
        run_stretch(
            constants, resting, now.circuit, left, block, counts, keep_theta, learning, pulling, watch, watch.monitors
        )
        done += block
    recorder.note(now.circuit)
    theta = frozen.theta if long_term is None else thresholds_of(now.circuit)
    return replace(recorder.recording(), weights=Weights(resting, theta), v_mv=now.circuit.v.copy(), state=now)


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
    recorder: Recorder | None = None,
) -> Recording:
    """Run `track` on a new stream and record it: all spikes, and the potentials (and F) of the given neurons.

    Parameters
    ----------
    neurons, every_steps
        Record potentials (and F) of these neurons at this interval.
    recorder : Recorder | None
        Record what its monitors watch, instead of `neurons`.
    """
    frozen = check_weights(weights, circuit)
    recorder = _recorder(recorder, neurons, every_steps, short_term is not None)
    state, _ = track(
        frozen,
        init(frozen, circuit, short_term),
        frames,
        circuit=circuit,
        presentation=presentation,
        short_term=short_term,
        seed=seed,
        recorder=recorder,
    )
    return replace(recorder.recording(), weights=frozen, v_mv=state.circuit.v, state=state)


def short_term_of(state: RunState, circuit: Circuit) -> Floats:
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
    for slot in range(stretch.n_slots):
        dense[:, stretch.slots["neuron"][slot]] = stretch.short[slot] * stretch.slots["scale"][slot]
    return dense


def _recorder(given: Recorder | None, neurons: Sequence[int], every_steps: int, short_term: bool) -> Recorder:
    """The recorder that was given, or one for the potentials and F of a few neurons."""
    if given is not None:
        check.require(len(neurons) == 0, "neurons", "not be given together with a recorder", neurons)
        return checked_recorder(given)
    check.integer("every_steps", every_steps, low=1)
    names = ("potential_mv", "F") if short_term else ("potential_mv",)
    watched = [Monitor(name, neurons=neurons, every_steps=every_steps) for name in names] if len(neurons) else []
    return Recorder(watched, input_spikes=True)


def _state(
    given: RunState | None,
    circuit: Circuit,
    weights: Weights,
    long_term: LongTermStdp | None,
    short_term: ShortTermStdp | None,
) -> RunState:
    """A copy of the state to continue from, or rest."""
    dtype = weights.resting.dtype.name
    per_synapse = short_term is not None and np.ndim(short_term.memory_ms) == 2
    if given is None:
        traces = None if long_term is None else long_term_rest(circuit, dtype)
        return init(weights, circuit, short_term)._replace(traces=traces)
    for name, plasticity, part in (("long", long_term, given.traces), ("short", short_term, given.short_term)):
        same = (plasticity is None) == (part is None)
        check.require(same, "state", f"be that of a run with the same {name}_term", "another")
    check_run(given, circuit, dtype, per_synapse=per_synapse)
    return copied_run(given)


def _check_spikes(index: NDArray[np.integer], step: NDArray[np.integer], n_steps: int, circuit: Circuit) -> None:
    for name, value, top in (("index", index, circuit.n_inputs), ("step", step, n_steps)):
        check_whole_numbers(name, value)
        inside = bool(((value >= 0) & (value < top)).all())
        check.require(inside, name, f"lie within 0 ... {top - 1}", (value.min(), value.max()) if len(value) else "none")
    check.require(len(index) == len(step), "index and step", "have the same length", (len(index), len(step)))
