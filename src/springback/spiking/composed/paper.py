"""The paper's circuit, composed of parts."""

from dataclasses import asdict

from springback import check
from springback.spiking import params
from springback.spiking.composed.circuit import ComposedCircuit
from springback.spiking.composed.parts import (
    AdaptiveLif,
    Lif,
    Normalisation,
    PartnerInhibition,
    Plasticity,
    TripletStdp,
)
from springback.spiking.model import SpikingModel
from springback.spiking.weights import Weights, check_weights


def paper_circuit(
    weights: Weights,
    circuit: params.Circuit,
    *,
    long_term: params.LongTermStdp | None = None,
    short_term: params.ShortTermStdp | None = None,
    normalise_every_ms: float | None = None,
) -> ComposedCircuit:
    """The circuit of `springback.spiking` from the parts of this package: the same spikes, in double precision.

    Parameters
    ----------
    long_term : params.LongTermStdp | None
        Learn, as in training; thresholds then adapt.
    short_term : params.ShortTermStdp | None
        Adapt, as in streaming.
    normalise_every_ms : float | None
        Normalise the weights at this interval while learning; None: never.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_spiking
    >>> model = shipped_spiking()
    >>> composed = paper_circuit(model.weights, model.preset.circuit, short_term=model.preset.short_term)
    >>> composed.n_neurons, type(composed.inhibition).__name__
    (400, 'PartnerInhibition')
    """
    weights = check_weights(weights, circuit)
    membrane = asdict(circuit.excitatory)
    membrane["v_threshold_mv"] = membrane.pop("threshold_offset_mv")
    rules: list[Plasticity] = [] if short_term is None else [short_term]
    neurons = Lif(**membrane)
    if long_term is not None:
        neurons = AdaptiveLif(
            **membrane, threshold_step_mv=long_term.theta_step_mv, tau_threshold_ms=long_term.tau_theta_ms
        )
        length = long_term.weight_length
        check.require(length is None, "weight_length", "be None: only sums are normalised", length)
        rules.append(TripletStdp.diehl_cook(long_term))
        if normalise_every_ms is not None:
            rules.append(Normalisation(weight_sum=long_term.weight_sum, every_ms=normalise_every_ms))
    return ComposedCircuit(
        weights.resting,
        neurons=neurons,
        inhibition=PartnerInhibition(
            partner=circuit.inhibitory,
            weight_to=circuit.weight_to_inhibitory,
            weight_from=circuit.weight_from_inhibitory,
            tau_to_ms=circuit.tau_excitatory_ms,
            tau_from_ms=circuit.tau_inhibitory_ms,
        ),
        plasticity=rules,
        thresholds_mv=weights.theta,
        dt_ms=circuit.dt_ms,
        tau_excitatory_ms=circuit.tau_excitatory_ms,
    )


def circuit_of(network: ComposedCircuit | SpikingModel, *, adapts: bool) -> ComposedCircuit:
    """A network as a circuit of parts; a trained model as it follows a stream."""
    if isinstance(network, ComposedCircuit):
        return network
    if not isinstance(network, SpikingModel):
        raise TypeError(f"network must be a ComposedCircuit or a SpikingModel; got {type(network).__name__}")
    preset = network.preset
    theta = network.weights.theta + network.weights.theta.dtype.type(preset.streaming.threshold_shift_mv)
    shifted = Weights(network.weights.resting, theta)
    return paper_circuit(shifted, preset.circuit, short_term=preset.short_term if adapts else None)
