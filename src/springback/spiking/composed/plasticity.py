"""Plasticity of the input synapses: two rules that change W, and two that change the efficacy temporarily.

`ShortTermStdp` is the paper's, from `springback.spiking`. A circuit can have one rule of each kind, and
`Normalisation`.
"""

from dataclasses import dataclass

from springback import check
from springback.spiking.params import LARGEST, LongTermStdp, ShortTermStdp


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
