"""What frames cost in synaptic operations, spikes and sparsity, as NeuroBench counts them (Yik et al. 2025).

A spike that meets a synapse with a weight is an *effective accumulate* (AC); where what arrives is a number and not a
spike, it is an *effective multiply-accumulate* (MAC). *Dense* are the operations of a machine that computes every
synapse in every step. *Activation sparsity* is the share of neurons and steps without a spike. NeuroBench does not
count the updates of synapses by plasticity; here they have a column of their own.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback.spiking._state import BEGAN, LAST
from springback.spiking.constants import DelayConstants, delay_constants, steps
from springback.spiking.inference import flat_frames
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.params import ShortTermStdp
from springback.spiking.stream import stream_run
from springback.spiking.weights import Weights

Whole = NDArray[np.int64]
_FRAMES_PER_CALL = 1000


@dataclass(frozen=True, kw_only=True, eq=False)
class Operations:
    """The operations of each of n frames.

    Parameters
    ----------
    input_spikes, output_spikes, inhibitory_spikes : Whole
        (n,) spikes of the inputs, of the neurons and of their inhibitory partners.
    effective_acs, effective_macs : Whole
        (n,) synaptic operations that had an effect.
    dense : Whole
        (n,) synapses times steps.
    updates : Whole
        (n,) synapses that plasticity updated.
    places : Whole
        (n,) neurons times steps: how often a neuron could have spiked.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> from springback.spiking import count_operations
    >>> cost = count_operations(shipped_spiking(), shipped_digits().pixels[:2])
    >>> cost.effective_acs.shape, bool((cost.effective_acs < cost.dense / 50).all())
    ((2,), True)
    """

    input_spikes: Whole
    output_spikes: Whole
    inhibitory_spikes: Whole
    effective_acs: Whole
    effective_macs: Whole
    dense: Whole
    updates: Whole
    places: Whole

    @property
    def activation_sparsity(self) -> NDArray[np.float64]:
        """(n,) the share of neurons and steps without a spike; NaN for a frame without a step."""
        spikes = self.output_spikes + self.inhibitory_spikes
        with np.errstate(invalid="ignore"):
            return np.asarray(1 - spikes / self.places)

    def __len__(self) -> int:
        return len(self.dense)

    def __add__(self, other: Self) -> Self:
        """The operations of two layers, frame by frame."""
        both = {one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)}
        return type(self)(**both)

    def per_frame(self) -> dict[str, float]:
        """Means over the frames, by name; the sparsity is that of all frames together.

        Examples
        --------
        >>> one = np.array([4])
        >>> cost = Operations(
        ...     input_spikes=one, output_spikes=one, inhibitory_spikes=0 * one, effective_acs=one, effective_macs=one,
        ...     dense=100 * one, updates=one, places=10 * one
        ... )
        >>> cost.per_frame()["activation_sparsity"]
        0.9
        """
        named: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "places"}
        means = {name: float(values.mean()) if len(values) else 0.0 for name, values in named.items()}
        spikes, places = (self.output_spikes + self.inhibitory_spikes).sum(), self.places.sum()
        return {**means, "activation_sparsity": float(1 - spikes / places) if places else float("nan")}


def linked_synapses(weights: Weights, short_term: ShortTermStdp | None) -> NDArray[np.int64]:
    """How many synapses of each input have a weight, or can get one by short-term STDP, (n_inputs,)."""
    linked = weights.resting != 0
    if short_term is not None and short_term.weight_dependence > 0 and short_term.pull > 0:
        linked = np.ones_like(linked)
    return np.asarray(linked.sum(axis=1), np.int64)


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
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> cost = count_operations(shipped_spiking(), shipped_digits().pixels[:3])
    >>> bool((cost.output_spikes > 0).all() and (cost.activation_sparsity > 0.99).all())
    True
    """
    preset = model.preset
    circuit, shown = preset.circuit, preset.streaming
    rows = flat_frames(frames, circuit.n_inputs)
    short_term = preset.short_term if adapts else None
    run = stream_run(model, adapts=adapts)
    frame_steps = steps(shown.show_ms, circuit.dt_ms) + steps(shown.rest_ms, circuit.dt_ms)
    linked = linked_synapses(model.weights, short_term)
    n, n_neurons = len(rows), circuit.n_neurons
    n_in, n_out, n_pulls, n_partner, from_inputs = (np.zeros(n, np.int64) for _ in range(5))
    delay = None if short_term is None else delay_constants(short_term, circuit)
    for start in range(0, n, _FRAMES_PER_CALL):
        part = slice(start, min(start + _FRAMES_PER_CALL, n))
        recorder = Recorder(input_spikes=True, partner_spikes=True)
        begun, pulled = run.state.circuit.step, run.state.short_term
        activity = None if pulled is None else pulled.activity.copy()
        run.show(rows[part], shown, seed=seed, recorder=recorder)
        seen, size = recorder.recording(), part.stop - part.start
        n_in[part] = np.bincount(seen.in_step // frame_steps, minlength=size)
        n_out[part] = np.bincount(seen.out_step // frame_steps, minlength=size)
        pulls = seen.out_step
        if delay is not None and activity is not None:
            pulls = pulls[_are_due(seen.out_index, seen.out_step + begun, activity, delay)]
        n_pulls[part] = np.bincount(pulls // frame_steps, minlength=size)
        n_partner[part] = np.bincount(seen.partner_step // frame_steps, minlength=size)
        from_inputs[part] = np.bincount(seen.in_step // frame_steps, weights=linked[seen.in_index], minlength=size)
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
