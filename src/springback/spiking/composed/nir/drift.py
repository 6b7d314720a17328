"""How far the responses of a NIR graph drift from those of the circuit that it was written from."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.spiking.composed.nir.linear import LinearCircuit
from springback.spiking.encoding import SpikeTrain


@dataclass(frozen=True, kw_only=True)
class Drift:
    """The responses of circuit and graph to the same input spikes.

    Parameters
    ----------
    circuit_spikes, graph_spikes : int
        Output spikes in all.
    correlation : float
        Of the spike counts of all neurons in all frames; NaN if one side never varies.
    same_winner : float
        Share of frames (of those in which both fire) in which the same neuron fires most.

    Examples
    --------
    >>> str(Drift(circuit_spikes=100, graph_spikes=120, correlation=0.9, same_winner=0.8))
    '120 output spikes instead of 100; counts correlate by 0.90; the same neuron fires most in 80 % of the frames'
    """

    circuit_spikes: int
    graph_spikes: int
    correlation: float
    same_winner: float

    def __str__(self) -> str:
        return (
            f"{self.graph_spikes:,} output spikes instead of {self.circuit_spikes:,}; counts correlate by "
            f"{self.correlation:.2f}; the same neuron fires most in {100 * self.same_winner:.0f} % of the frames"
        )


def drift_between(ours: NDArray[Any], theirs: NDArray[Any]) -> Drift:
    """The drift between spike counts (frames, n_neurons)."""
    varies = ours.std() > 0 and theirs.std() > 0
    both = (ours.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    same = ours[both].argmax(axis=1) == theirs[both].argmax(axis=1)
    return Drift(
        circuit_spikes=int(ours.sum()),
        graph_spikes=int(theirs.sum()),
        correlation=float(np.corrcoef(ours.ravel(), theirs.ravel())[0, 1]) if varies else float("nan"),
        same_winner=float(same.mean()) if len(same) else float("nan"),
    )


def graph_counts(linear: LinearCircuit, spikes: SpikeTrain, frame_steps: int) -> NDArray[np.int32]:
    """The spike counts (frames, n_neurons) of the graph by forward Euler; a recurrent spike arrives one step later."""
    n_steps, k = len(spikes.first) - 1, len(linear.weights)
    counts = np.zeros((-(-n_steps // frame_steps), k), np.int32)
    partners = linear.partners or linear.neurons
    recurrent = np.zeros((k, k)) if linear.recurrent is None else linear.recurrent
    _advance(
        spikes.which,
        spikes.first,
        np.ascontiguousarray(linear.weights.T),
        recurrent,
        np.array([linear.dt_ms / linear.neurons.tau_ms, linear.dt_ms / partners.tau_ms]),
        1 - linear.dt_ms / np.array([linear.tau_excitation_ms, linear.tau_inhibition_ms, linear.tau_partner_ms]),
        np.array([linear.excitation_mv, linear.inhibition_mv, linear.partner_mv * linear.to_partner]),
        np.stack([linear.neurons.v_leak_mv, linear.neurons.v_threshold_mv, linear.neurons.v_reset_mv]),
        np.stack([partners.v_leak_mv, partners.v_threshold_mv, partners.v_reset_mv]),
        linear.partners is not None,
        frame_steps,
        counts,
    )
    return counts


@njit(cache=True, nogil=True, error_model="numpy")
def _advance(  # type: ignore[no-untyped-def]
    which, first, weights, recurrent, leak, keep, scale, neuron, partner, has_partners, frame_steps, counts
):
    k = counts.shape[1]
    v, partner_v = neuron[0].copy(), partner[0].copy()
    excitation, inhibition, partner_current = np.zeros(k), np.zeros(k), np.zeros(k)
    fired, source = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
    for t in range(first.shape[0] - 1):
        for i in range(k):
            v[i] += leak[0] * (neuron[0, i] - v[i] + excitation[i] + inhibition[i])
            fired[i] = v[i] > neuron[1, i]
            excitation[i] *= keep[0]
            inhibition[i] *= keep[1]
            source[i] = fired[i]
            if has_partners:
                partner_v[i] += leak[1] * (partner[0, i] - partner_v[i] + partner_current[i])
                partner_current[i] *= keep[2]
                source[i] = partner_v[i] > partner[1, i]
                if source[i]:
                    partner_v[i] = partner[2, i]
            if fired[i]:
                v[i] = neuron[2, i]
                partner_current[i] += scale[2]
                counts[t // frame_steps, i] += 1
        for i in range(first[t], first[t + 1]):
            for n in range(k):
                excitation[n] += scale[0] * weights[which[i], n]
        for i in range(k):
            if source[i]:
                for n in range(k):
                    inhibition[n] += scale[1] * recurrent[n, i]
