"""The parts of circuits as frozen records: neuron models, inhibition between neurons, plasticity of the input synapses.

All neurons have the membrane of the paper's circuit, with conductances and a constant drive:

    tau dv/dt = v_rest + drive - v + g_e (E_e - v) + g_i (E_i - v)

They differ in when they fire: at a fixed threshold, at one that rises with every spike, or at random. Two rules change
W, and two change the efficacy temporarily; `ShortTermStdp` is the paper's, from `springback.spiking`.
"""

from dataclasses import dataclass, field

from springback import check
from springback.spiking.params import (
    LARGEST,
    InhibitoryNeuron,
    LongTermStdp,
    ShortTermStdp,
    check_neuron,
)

_LARGEST_MV = 1e6


@dataclass(frozen=True, kw_only=True)
class Lif:
    """A leaky integrate-and-fire neuron: it fires when its potential is above the threshold.

    Under a constant drive alone, with a reset to rest, it fires every `refractory + tau ln(drive / (drive - height))`,
    where `height = v_threshold - v_rest`; it never fires if the drive is not larger than that.

    Parameters
    ----------
    drive_mv : float
        A constant input current, times the resistance of the membrane.
    refractory_ms : float
        How long the potential stays at its reset value after a spike.

    Examples
    --------
    >>> Lif(tau_membrane_ms=20.0).v_threshold_mv
    -52.0
    >>> Lif(tau_membrane_ms=-3.0)
    Traceback (most recent call last):
    ValueError: Lif.tau_membrane_ms must be > 0; got -3.0
    """

    tau_membrane_ms: float = 100.0
    v_rest_mv: float = -65.0
    v_reset_mv: float = -65.0
    v_threshold_mv: float = -52.0
    refractory_ms: float = 5.0
    e_excitatory_mv: float = 0.0
    e_inhibitory_mv: float = -100.0
    drive_mv: float = 0.0

    def __post_init__(self) -> None:
        check_neuron(self, _LARGEST_MV)


@dataclass(frozen=True, kw_only=True)
class AdaptiveLif(Lif):
    """A LIF neuron whose threshold rises by `threshold_step_mv` with each spike and decays with `tau_threshold_ms`.

    At a steady rate r, the threshold is higher by `threshold_step * r * tau_threshold` on average.

    Examples
    --------
    >>> AdaptiveLif(threshold_step_mv=0.05, tau_threshold_ms=1e7).threshold_step_mv  # as in Diehl & Cook (2015)
    0.05
    """

    threshold_step_mv: float = 1.0
    tau_threshold_ms: float = 200.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "threshold_step_mv", low=0)
        check.reals(self, "tau_threshold_ms", above=0)


@dataclass(frozen=True, kw_only=True)
class StochasticLif(Lif):
    """A LIF neuron that fires at random, with a rate that grows exponentially with its potential.

    The rate is `rate_at_threshold_hz * exp((v - v_threshold) / width)` (escape noise: Gerstner & van Hemmen 1992); in a
    step it fires with probability `1 - exp(-rate dt)`.

    Examples
    --------
    >>> StochasticLif(width_mv=0.0)
    Traceback (most recent call last):
    ValueError: StochasticLif.width_mv must be > 0; got 0.0
    """

    rate_at_threshold_hz: float = 100.0
    width_mv: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.reals(self, "rate_at_threshold_hz", "width_mv", above=0)


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


@dataclass(frozen=True, kw_only=True)
class PairStdp:
    """Pairs of spikes change W, by the time between them (Song, Miller & Abbott 2000).

        output spike after an input spike by t:   w += potentiation * exp(-t / tau_pre)
        input spike after an output spike by t:   w -= depression * exp(-t / tau_post)

    W stays within 0 ... `weight_max`. A pair in the same step counts as input first.

    Parameters
    ----------
    nearest : bool
        Whether only the nearest spike of the other side counts; False: all of them.

    Examples
    --------
    >>> PairStdp(potentiation=0.01, depression=0.012).tau_pre_ms
    20.0
    """

    potentiation: float = 0.005
    depression: float = 0.00525
    tau_pre_ms: float = 20.0
    tau_post_ms: float = 20.0
    weight_max: float = 1.0
    nearest: bool = False

    def __post_init__(self) -> None:
        _check_rule(self, ("potentiation", "depression"), ("tau_pre_ms", "tau_post_ms"))


@dataclass(frozen=True, kw_only=True)
class TripletStdp:
    """Triplets of spikes change W (Pfister & Gerstner 2006; defaults: their full model of visual cortex).

        output spike:   w += r_1 * (pair_potentiation + triplet_potentiation * o_2)
        input spike:    w -= o_1 * (pair_depression + triplet_depression * r_2)

    r_1, r_2 are traces of the input (`tau_pre_ms`, `tau_pre_slow_ms`), o_1, o_2 of the output (`tau_post_ms`,
    `tau_post_slow_ms`); r_2 and o_2 are taken before the spike. W stays within 0 ... `weight_max`. The rule of Diehl &
    Cook (2015), by which the paper's weights are learned, is `TripletStdp.diehl_cook()`.

    Parameters
    ----------
    nearest : bool
        Whether a spike sets its traces to 1; False: it adds 1 to them, so that all spikes count.

    Examples
    --------
    >>> TripletStdp.diehl_cook().triplet_potentiation
    0.01
    """

    pair_potentiation: float = 5e-10
    triplet_potentiation: float = 6.2e-3
    pair_depression: float = 7e-3
    triplet_depression: float = 2.3e-4
    tau_pre_ms: float = 16.8
    tau_pre_slow_ms: float = 101.0
    tau_post_ms: float = 33.7
    tau_post_slow_ms: float = 125.0
    weight_max: float = 1.0
    nearest: bool = False

    def __post_init__(self) -> None:
        amounts = ("pair_potentiation", "triplet_potentiation", "pair_depression", "triplet_depression")
        _check_rule(self, amounts, ("tau_pre_ms", "tau_pre_slow_ms", "tau_post_ms", "tau_post_slow_ms"))

    @staticmethod
    def diehl_cook(stdp: LongTermStdp | None = None) -> "TripletStdp":
        """The rule by which the paper's weights are learned: two output spikes potentiate, one depresses."""
        stdp = stdp or LongTermStdp()
        return TripletStdp(
            pair_potentiation=0.0,
            triplet_potentiation=stdp.rate_post,
            pair_depression=stdp.rate_pre,
            triplet_depression=0.0,
            tau_pre_ms=stdp.tau_pre_ms,
            tau_post_ms=stdp.tau_post_1_ms,
            tau_post_slow_ms=stdp.tau_post_2_ms,
            weight_max=stdp.weight_max,
            nearest=True,
        )


@dataclass(frozen=True, kw_only=True)
class TsodyksMarkram:
    """Short-term depression and facilitation by the input alone (Tsodyks & Markram 1997; Tsodyks et al. 1998).

    An input spike releases the share u x of what a synapse can release, so its efficacy is W u x:

        u <- u + release * (1 - u);   efficacy = W u x;   x <- x - u x

    Between spikes u decays to 0 with `tau_facilitation_ms` and x recovers to 1 with `tau_recovery_ms`. From rest, the
    first spike has the efficacy W * release.

    Parameters
    ----------
    release : float
        The share that the first spike releases (U).
    tau_facilitation_ms : float
        0: no facilitation, u = U at every spike.

    Examples
    --------
    >>> TsodyksMarkram(release=0.1, tau_facilitation_ms=1000.0).tau_recovery_ms
    800.0
    """

    release: float = 0.5
    tau_recovery_ms: float = 800.0
    tau_facilitation_ms: float = 0.0

    def __post_init__(self) -> None:
        check.reals(self, "release", above=0, high=1)
        check.reals(self, "tau_recovery_ms", above=0)
        check.reals(self, "tau_facilitation_ms", low=0)


@dataclass(frozen=True, kw_only=True)
class Normalisation:
    """The weights of each neuron are scaled to a common sum at the start and then every `every_ms`.

    Examples
    --------
    >>> Normalisation(weight_sum=78.0).every_ms
    500.0
    """

    weight_sum: float = 78.0
    every_ms: float = 500.0

    def __post_init__(self) -> None:
        check.reals(self, "weight_sum", above=0, high=LARGEST)
        check.reals(self, "every_ms", above=0)


Plasticity = PairStdp | TripletStdp | ShortTermStdp | TsodyksMarkram | Normalisation
LONG_TERM: tuple[type[PairStdp | TripletStdp], ...] = (PairStdp, TripletStdp)
SHORT_TERM: tuple[type[ShortTermStdp | TsodyksMarkram], ...] = (ShortTermStdp, TsodyksMarkram)


def _check_rule(rule: PairStdp | TripletStdp, amounts: tuple[str, ...], time_constants: tuple[str, ...]) -> None:
    check.reals(rule, *amounts, low=0, high=LARGEST)
    check.reals(rule, *time_constants, above=0)
    check.reals(rule, "weight_max", above=0, high=LARGEST)
    if not isinstance(rule.nearest, bool):
        raise TypeError(f"{type(rule).__name__}.nearest must be True or False; got {check.shown(rule.nearest)}")
