"""Counting the operations of the paper's circuit while it follows a stream."""

import numpy as np
from numpy.typing import NDArray

from springback.spiking._state import BEGAN, LAST, STEP
from springback.spiking.constants import DelayConstants, delay_constants, steps
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.network import flat_frames, init, track
from springback.spiking.operations import Operations, linked_synapses

_FRAMES_PER_CALL = 1000


def count_operations(
    model: SpikingModel, frames: NDArray[np.uint8], *, adapts: bool = True, seed: int = 0
) -> Operations:
    """The synaptic operations, spikes and sparsity of a trained network that follows a stream from rest.

    Synapses that short-term STDP can pull although they have no weight (only if its weight dependence is above 0) count
    as if they had one, so that the number is then an upper bound.

    Parameters
    ----------
    adapts : bool
        Whether short-term STDP is on; False: the weights are static.

    Examples
    --------
    >>> from springback.pretrained import shipped_digits, shipped_spiking
    >>> cost = count_operations(shipped_spiking(), shipped_digits().pixels[:3])
    >>> bool((cost.output_spikes > 0).all() and (cost.activation_sparsity > 0.99).all())
    True
    """
    preset = model.preset
    circuit, shown = preset.circuit, preset.streaming
    rows = flat_frames(frames, circuit.n_inputs)
    short_term = preset.short_term if adapts else None
    frame_steps = steps(shown.show_ms, circuit.dt_ms) + steps(shown.rest_ms, circuit.dt_ms)
    linked = linked_synapses(model.weights, short_term)
    n, n_neurons = len(rows), circuit.n_neurons
    n_in, n_out, n_pulls, n_partner, from_inputs = (np.zeros(n, np.int64) for _ in range(5))
    delay = None if short_term is None else delay_constants(short_term, circuit)
    state = init(model.weights, circuit, short_term)
    for start in range(0, n, _FRAMES_PER_CALL):
        part = slice(start, min(start + _FRAMES_PER_CALL, n))
        recorder = Recorder(input_spikes=True, partner_spikes=True)
        before = state
        state, _ = track(
            model.weights,
            state,
            rows[part],
            circuit=circuit,
            presentation=shown,
            short_term=short_term,
            seed=seed,
            recorder=recorder,
        )
        run, size = recorder.recording(), part.stop - part.start
        n_in[part] = np.bincount(run.in_step // frame_steps, minlength=size)
        n_out[part] = np.bincount(run.out_step // frame_steps, minlength=size)
        pulls = run.out_step
        if delay is not None and before.short_term is not None:
            now = run.out_step + before.circuit.tally[STEP]
            pulls = pulls[_are_due(run.out_index, now, before.short_term.activity, delay)]
        n_pulls[part] = np.bincount(pulls // frame_steps, minlength=size)
        n_partner[part] = np.bincount(run.partner_step // frame_steps, minlength=size)
        from_inputs[part] = np.bincount(run.in_step // frame_steps, weights=linked[run.in_index], minlength=size)
    to_partners = n_out if circuit.weight_to_inhibitory > 0 else 0 * n_out
    to_others = n_partner * (n_neurons - 1) if circuit.weight_from_inhibitory > 0 else 0 * n_partner
    return Operations(
        input_spikes=n_in,
        output_spikes=n_out,
        inhibitory_spikes=n_partner,
        effective_acs=from_inputs + to_partners + to_others,
        effective_macs=np.zeros(n, np.int64),
        dense=np.full(n, frame_steps * n_neurons * (circuit.n_inputs + n_neurons), np.int64),
        updates=n_pulls * circuit.n_inputs if adapts else 0 * n_pulls,
        places=np.full(n, frame_steps * 2 * n_neurons, np.int64),
    )


def _are_due(
    index: NDArray[np.int32], step: NDArray[np.int64], activity: NDArray[np.int64], delay: DelayConstants
) -> NDArray[np.bool_]:
    """Which output spikes pull their neuron's synapses, as the kernel decides it, from `activity` before the first."""
    order = np.lexsort((step, index))
    neuron, time = index[order], step[order]
    is_first = np.diff(neuron, prepend=-1) != 0
    last = np.where(is_first, activity[neuron, LAST], np.roll(time, 1))
    is_fresh = time - last > delay.pause
    began = np.where(is_fresh, time, activity[neuron, BEGAN])
    # Every spike has the beginning of the last spike that is fresh, or of its neuron's first.
    where = np.maximum.accumulate(np.where(is_fresh | is_first, np.arange(len(time)), 0))
    due = np.empty(len(time), np.bool_)
    due[order] = time - began[where] >= delay.steps
    return due
