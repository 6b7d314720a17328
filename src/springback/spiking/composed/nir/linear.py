"""A circuit as NIR can express it: frozen weights, currents in place of conductances, recurrent inhibition.

NIR has no conductances, so each is a current at one operating potential, `g (E - v) -> g (E - v_operating)`. Synapses
are leaky integrators (LI) whose response to a spike in a forward Euler step of `dt` is the engine's own: the current
jumps by the weight and loses dt / tau of itself per step. `drift_between` says how far such a graph drifts from the
circuit that it was written from.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.parts import (
    AdaptiveLif,
    DivisiveInhibition,
    GlobalInhibition,
    PartnerInhibition,
    StochasticLif,
    TsodyksMarkram,
)
from springback.spiking.encoding import SpikeTrain

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearNeurons:
    """Leaky integrate-and-fire neurons without refractory period: time constant in ms, potentials in mV, (k,)."""

    tau_ms: float
    v_leak_mv: Floats
    v_threshold_mv: Floats
    v_reset_mv: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearCircuit:
    """What is written as a graph.

    Parameters
    ----------
    weights : Floats
        (n_neurons, n_inputs), as NIR has them.
    excitation_mv, inhibition_mv : float
        The current of a conductance of 1.
    partners : LinearNeurons | None
        Inhibitory partners, or None if neurons inhibit each other directly.
    partner_mv, tau_partner_ms : float
        Current of a conductance of 1 at a partner, and its decay.
    to_partner : float
        Weight from a neuron to its partner.
    recurrent : Floats | None
        (n_neurons, n_neurons) weights of the inhibition, or None.
    """

    dt_ms: float
    weights: Floats
    neurons: LinearNeurons
    tau_excitation_ms: float
    excitation_mv: float
    recurrent: Floats | None = None
    tau_inhibition_ms: float = 1.0
    inhibition_mv: float = 0.0
    partners: LinearNeurons | None = None
    partner_mv: float = 0.0
    tau_partner_ms: float = 1.0
    to_partner: float = 0.0


def linearised(circuit: ComposedCircuit, operating_mv: float | None) -> LinearCircuit:
    """The circuit at an operating potential; None: rest."""
    k, neuron, how = circuit.n_neurons, circuit.neurons, circuit.inhibition
    thresholds = neuron.v_threshold_mv + circuit.thresholds_mv
    if operating_mv is None:
        operating_mv = neuron.v_rest_mv
    release = circuit.short_term.release if isinstance(circuit.short_term, TsodyksMarkram) else 1.0
    inhibition = {}
    if isinstance(how, PartnerInhibition):
        partner = how.partner
        inhibition = {
            "recurrent": how.weight_from * (1 - np.eye(k)),
            "tau_inhibition_ms": how.tau_from_ms,
            "partners": LinearNeurons(
                tau_ms=partner.tau_membrane_ms,
                v_leak_mv=np.full(k, float(partner.v_rest_mv)),
                v_threshold_mv=np.full(k, float(partner.v_threshold_mv)),
                v_reset_mv=np.full(k, float(partner.v_reset_mv)),
            ),
            "partner_mv": partner.e_excitatory_mv - partner.v_rest_mv,
            "tau_partner_ms": how.tau_to_ms,
            "to_partner": how.weight_to,
        }
    elif isinstance(how, GlobalInhibition):
        inhibition = {"recurrent": np.full((k, k), float(how.weight)), "tau_inhibition_ms": how.tau_ms}
    return LinearCircuit(
        dt_ms=circuit.dt_ms,
        weights=np.ascontiguousarray(circuit.weights.T) * release,
        neurons=LinearNeurons(
            tau_ms=neuron.tau_membrane_ms,
            v_leak_mv=np.full(k, float(neuron.v_rest_mv + neuron.drive_mv)),
            v_threshold_mv=np.asarray(thresholds, np.float64),
            v_reset_mv=np.full(k, float(neuron.v_reset_mv)),
        ),
        tau_excitation_ms=circuit.tau_excitatory_ms,
        excitation_mv=neuron.e_excitatory_mv - operating_mv,
        inhibition_mv=neuron.e_inhibitory_mv - operating_mv,
        **inhibition,  # type: ignore[arg-type]
    )


def lost_parts(circuit: ComposedCircuit) -> tuple[str, ...]:
    """What NIR cannot express of a circuit, one sentence each."""
    lost = ["Conductances are currents: reversal potentials and shunting are lost."]
    if circuit.neurons.refractory_ms > 0:
        lost.append(f"The refractory period of {circuit.neurons.refractory_ms:g} ms is lost.")
    if isinstance(circuit.neurons, AdaptiveLif):
        lost.append("Thresholds do not adapt: they stay as they are now.")
    if isinstance(circuit.neurons, StochasticLif):
        lost.append("Neurons fire at their threshold and not at random.")
    if isinstance(circuit.inhibition, DivisiveInhibition):
        lost.append("Divisive inhibition is lost altogether.")
    if isinstance(circuit.inhibition, PartnerInhibition) and circuit.inhibition.partner.refractory_ms > 0:
        lost.append(f"The refractory period of the partners, {circuit.inhibition.partner.refractory_ms:g} ms, is lost.")
    if circuit.long_term is not None:
        lost.append(f"{type(circuit.long_term).__name__} is lost: weights are frozen.")
    if isinstance(circuit.short_term, TsodyksMarkram):
        lost.append("TsodyksMarkram is lost: every spike has the efficacy of a first one.")
    elif circuit.short_term is not None:
        lost.append("ShortTermStdp is lost: efficacies stay at the resting weights.")
    return tuple(lost)


@dataclass(frozen=True, kw_only=True)
class NirDrift:
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
    >>> str(NirDrift(circuit_spikes=100, graph_spikes=120, correlation=0.9, same_winner=0.8))
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


def drift_between(ours: NDArray[Any], theirs: NDArray[Any]) -> NirDrift:
    """The drift between spike counts (frames, n_neurons)."""
    varies = ours.std() > 0 and theirs.std() > 0
    both = (ours.sum(axis=1) > 0) & (theirs.sum(axis=1) > 0)
    same = ours[both].argmax(axis=1) == theirs[both].argmax(axis=1)
    return NirDrift(
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


@njit(cache=True, makes_arrays=True, nogil=True, error_model="numpy")
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
