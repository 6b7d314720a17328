"""The paper's circuit, composed of parts."""

from springback import check
from springback.circuits.circuit import Circuit
from springback.circuits.inhibition import PartnerInhibition
from springback.circuits.neurons import AdaptiveLif, Lif
from springback.circuits.plasticity import Normalisation, Plasticity, TripletStdp
from springback.spiking import params
from springback.spiking.weights import Weights, check_weights


def paper_circuit(
    weights: Weights,
    circuit: params.Circuit,
    *,
    long_term: params.LongTermStdp | None = None,
    short_term: params.ShortTermStdp | None = None,
    normalise_every_ms: float | None = None,
) -> Circuit:
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
    >>> from springback.pretrained import shipped_spiking
    >>> model = shipped_spiking()
    >>> composed = paper_circuit(model.weights, model.preset.circuit, short_term=model.preset.short_term)
    >>> composed.n_neurons, type(composed.inhibition).__name__
    (400, 'PartnerInhibition')
    """
    weights = check_weights(weights, circuit)
    neuron = circuit.excitatory
    membrane = {
        "tau_membrane_ms": neuron.tau_membrane_ms,
        "v_rest_mv": neuron.v_rest_mv,
        "v_reset_mv": neuron.v_reset_mv,
        "v_threshold_mv": neuron.threshold_offset_mv,
        "refractory_ms": neuron.refractory_ms,
        "e_excitatory_mv": neuron.e_excitatory_mv,
        "e_inhibitory_mv": neuron.e_inhibitory_mv,
    }
    rules: list[Plasticity] = [] if short_term is None else [short_term]
    neurons = Lif(**membrane)
    if long_term is not None:
        neurons = AdaptiveLif(
            **membrane, threshold_step_mv=long_term.theta_step_mv, tau_threshold_ms=long_term.tau_theta_ms
        )
        check.require(
            long_term.weight_length is None,
            "weight_length",
            "be None: only sums are normalised",
            long_term.weight_length,
        )
        rules.append(TripletStdp.diehl_cook(long_term))
        if normalise_every_ms is not None:
            rules.append(Normalisation(weight_sum=long_term.weight_sum, every_ms=normalise_every_ms))
    return Circuit(
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
