"""A circuit as NIR can express it: frozen weights, currents in place of conductances, recurrent inhibition.

NIR has no conductances, so each is a current at one operating potential, `g (E - v) -> g (E - v_operating)`. Synapses
are leaky integrators (LI) whose response to a spike in a forward Euler step of `dt` is the engine's own: the current
jumps by the weight and loses dt / tau of itself per step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.inhibition import DivisiveInhibition, GlobalInhibition, PartnerInhibition
from springback.spiking.composed.neurons import AdaptiveLif, StochasticLif
from springback.spiking.composed.plasticity import TsodyksMarkram

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
