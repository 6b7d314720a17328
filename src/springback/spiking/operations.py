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

from springback.spiking.params import ShortTermStdp
from springback.spiking.weights import Weights

Whole = NDArray[np.int64]


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
        (n,) synapses that plasticity computed anew.
    places : Whole
        (n,) neurons times steps: how often a neuron could have spiked.

    Examples
    --------
    >>> from springback.pretrained import shipped_digits, shipped_spiking
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
