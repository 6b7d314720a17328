"""Counting the operations of the paper's circuit while it follows a stream."""

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import steps
from springback.spiking.encoding import spike_train
from springback.spiking.model import SpikingModel
from springback.spiking.network import flat_frames
from springback.spiking.operations import Operations, PartnerCount, linked_synapses
from springback.spiking.recorded import record_stream

MOST_FRAMES = 20_000
"""The largest number of frames in one count; their spikes take about a gigabyte."""


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
    must = f"be at most {MOST_FRAMES:,}: count a long stream in parts"
    check.require(len(rows) <= MOST_FRAMES, "the number of frames", must, len(rows))
    short_term = preset.short_term if adapts else None
    record = record_stream(model.weights, rows, circuit=circuit, presentation=shown, short_term=short_term, seed=seed)
    frame_steps = steps(shown.show_ms, circuit.dt_ms) + steps(shown.rest_ms, circuit.dt_ms)
    n, n_neurons = len(rows), circuit.n_neurons
    outputs = spike_train(record.out_index, record.out_step, n * frame_steps)
    partners = PartnerCount(circuit).spikes(outputs, frame_steps)
    n_out = np.bincount(record.out_step // frame_steps, minlength=n).astype(np.int64)
    n_in = np.bincount(record.in_step // frame_steps, minlength=n).astype(np.int64)
    linked = linked_synapses(model.weights, short_term)
    from_inputs = np.bincount(record.in_step // frame_steps, weights=linked[record.in_index], minlength=n)
    to_partners = n_out if circuit.weight_to_inhibitory > 0 else 0 * n_out
    to_others = partners * (n_neurons - 1) if circuit.weight_from_inhibitory > 0 else 0 * partners
    return Operations(
        input_spikes=n_in,
        output_spikes=n_out,
        inhibitory_spikes=partners,
        effective_acs=from_inputs.astype(np.int64) + to_partners + to_others,
        effective_macs=np.zeros(n, np.int64),
        dense=np.full(n, frame_steps * n_neurons * (circuit.n_inputs + n_neurons), np.int64),
        updates=n_out * circuit.n_inputs if adapts else 0 * n_out,
        places=np.full(n, frame_steps * 2 * n_neurons, np.int64),
    )
