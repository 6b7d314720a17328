"""Inhibition between the neurons of a circuit: through partner neurons, through one common pool, or by division."""

from dataclasses import dataclass, field

from springback import check
from springback.spiking.params import LARGEST, InhibitoryNeuron


@dataclass(frozen=True, kw_only=True)
class PartnerInhibition:
    """Every neuron excites an inhibitory partner, whose spike inhibits all other neurons: the paper's microcircuit.

    Parameters
    ----------
    partner : InhibitoryNeuron
        The partner's membrane.
    weight_to, weight_from : float
        Neuron -> its partner, and partner -> all other neurons (Diehl & Cook 2015).
    tau_to_ms, tau_from_ms : float
        Decay of the partner's excitatory conductance and of the inhibitory conductance (Table 1 of the paper).

    Examples
    --------
    >>> PartnerInhibition(weight_from=10.0).partner.refractory_ms
    2.0
    """

    partner: InhibitoryNeuron = field(default_factory=InhibitoryNeuron)
    weight_to: float = 10.4
    weight_from: float = 17.0
    tau_to_ms: float = 1.0
    tau_from_ms: float = 2.0

    def __post_init__(self) -> None:
        check.reals(self, "weight_to", "weight_from", low=0, high=LARGEST)
        check.reals(self, "tau_to_ms", "tau_from_ms", above=0)


@dataclass(frozen=True, kw_only=True)
class GlobalInhibition:
    """Every spike adds `weight` to one inhibitory conductance that all neurons feel, the one that fired as well.

    At a summed rate r of all neurons, this conductance is `weight * r * tau` on average.

    Examples
    --------
    >>> GlobalInhibition(weight=2.0, tau_ms=10.0).tau_ms
    10.0
    """

    weight: float = 17.0
    tau_ms: float = 2.0

    def __post_init__(self) -> None:
        check.reals(self, "weight", low=0, high=LARGEST)
        check.reals(self, "tau_ms", above=0)


@dataclass(frozen=True, kw_only=True)
class DivisiveInhibition:
    """The excitation of every neuron is divided by `1 + activity / half_rate` (Carandini & Heeger 2012).

    `activity` is the summed rate of all neurons in Hz, averaged over the last `tau_ms`: every spike adds `1 / tau` to
    it. At `half_rate_hz`, excitation has half of its effect.

    Examples
    --------
    >>> DivisiveInhibition(half_rate_hz=50.0).tau_ms
    50.0
    """

    half_rate_hz: float = 20.0
    tau_ms: float = 50.0

    def __post_init__(self) -> None:
        check.reals(self, "half_rate_hz", "tau_ms", above=0)


Inhibition = PartnerInhibition | GlobalInhibition | DivisiveInhibition
INHIBITIONS = (PartnerInhibition, GlobalInhibition, DivisiveInhibition)
