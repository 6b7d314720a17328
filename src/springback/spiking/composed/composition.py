"""What a composed circuit consists of, and what it refuses before it exists."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.composed.parts import (
    INHIBITIONS,
    LONG_TERM,
    SHORT_TERM,
    Inhibition,
    Lif,
    Normalisation,
    PairStdp,
    PartnerInhibition,
    Plasticity,
    TripletStdp,
    TsodyksMarkram,
)
from springback.spiking.params import MOST_SYNAPSES, ShortTermStdp, check_steps
from springback.spiking.weights import LARGEST_WEIGHT

Floats = NDArray[np.float64]
Rule = TypeVar("Rule")


@dataclass(frozen=True, eq=False)
class Composition:
    """Weights and parts that fit together; `ComposedCircuit` runs them, and describes the fields."""

    weights: Floats
    neurons: Lif = field(default_factory=Lif)
    inhibition: Inhibition | None = None
    plasticity: Plasticity | Sequence[Plasticity] | None = None
    thresholds_mv: Floats = field(default_factory=lambda: np.zeros(0))
    dt_ms: float = 0.5
    tau_excitatory_ms: float = 1.0

    def __post_init__(self) -> None:
        given = () if self.plasticity is None else self.plasticity
        rules = tuple(given) if isinstance(given, Sequence) else (given,)
        weights = checked_weights(self.weights)
        for name, value in (
            ("weights", weights),
            ("plasticity", rules),
            ("thresholds_mv", checked_thresholds(self.thresholds_mv, weights.shape[1])),
        ):
            object.__setattr__(self, name, value)
        check_parts(self.neurons, self.inhibition, rules)
        check_rules(self.long_term, self.short_term, weights)
        check_times(self.neurons, self.inhibition, self.dt_ms, self.tau_excitatory_ms)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return int(self.weights.shape[0])

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return int(self.weights.shape[1])

    @property
    def long_term(self) -> PairStdp | TripletStdp | None:
        """The rule that writes W, or None."""
        return self._rule(LONG_TERM)

    @property
    def short_term(self) -> ShortTermStdp | TsodyksMarkram | None:
        """The rule that changes the efficacy temporarily, or None."""
        return self._rule(SHORT_TERM)

    @property
    def normalisation(self) -> Normalisation | None:
        """How weights are normalised, or None."""
        return self._rule((Normalisation,))

    def _rule(self, kinds: tuple[type[Rule], ...]) -> Rule | None:
        rules: Any = self.plasticity
        return next((one for one in rules if isinstance(one, kinds)), None)


def checked_weights(weights: Any) -> Floats:
    """Weights (n_inputs, n_neurons) in double precision, read-only."""
    array = np.array(weights, np.float64, order="C")
    fits = array.ndim == 2 and array.size > 0
    check.require(fits, "ComposedCircuit.weights", "have shape (n_inputs, n_neurons)", array.shape)
    most = MOST_SYNAPSES // 2
    check.require(array.size <= most, "ComposedCircuit.weights", f"be at most {most:,}, which take 8 GiB", array.size)
    inside = bool(np.isfinite(array).all() and (array >= 0).all() and (array <= LARGEST_WEIGHT).all())
    check.require(inside, "ComposedCircuit.weights", f"lie within 0 ... {LARGEST_WEIGHT:g}", (array.min(), array.max()))
    return _frozen(array)


def checked_thresholds(thresholds_mv: Any, n_neurons: int) -> Floats:
    """Thresholds (n_neurons,) in double precision, read-only; zeros if none are given."""
    array = np.array(thresholds_mv, np.float64)
    if array.shape == (0,):
        array = np.zeros(n_neurons)
    name = "ComposedCircuit.thresholds_mv"
    check.array(name, array, shape=(n_neurons,), dtype=np.float64)
    largest = float(np.abs(array).max())
    check.require(largest <= LARGEST_WEIGHT, name, f"be within ± {LARGEST_WEIGHT:g}", largest)
    return _frozen(array)


def check_parts(neurons: Lif, inhibition: Inhibition | None, rules: tuple[Any, ...]) -> None:
    """Refuse parts of an unknown kind, and two rules of the same kind."""
    _check_kind("neurons", neurons, (Lif,))
    if inhibition is not None:
        _check_kind("inhibition", inhibition, INHIBITIONS)
    for one in rules:
        _check_kind("plasticity", one, (*LONG_TERM, *SHORT_TERM, Normalisation))
    for kinds in (LONG_TERM, SHORT_TERM, (Normalisation,)):
        names = [type(one).__name__ for one in rules if isinstance(one, kinds)]
        must = f"have at most one of {', '.join(kind.__name__ for kind in kinds)}"
        check.require(len(names) <= 1, "ComposedCircuit.plasticity", must, ", ".join(names))


def check_rules(
    rule: PairStdp | TripletStdp | None, brief: ShortTermStdp | TsodyksMarkram | None, weights: Floats
) -> None:
    """Refuse rules that do not fit the weights, or that only the paper's own kernel knows."""
    if rule is not None:
        top, most = float(weights.max()), rule.weight_max
        check.require(top <= most, "ComposedCircuit.weights", f"be at most weight_max = {most:g}", top)
    if isinstance(brief, ShortTermStdp):
        shape, each = np.shape(brief.memory_ms), weights.shape[1:]
        must = f"have shape () or {each} in a composed circuit; springback.spiking takes one per synapse"
        check.require(shape in ((), each), "ShortTermStdp.memory_ms", must, shape)
        must = "be None in a composed circuit; springback.spiking has excitable somas"
        check.require(brief.intrinsic is None, "ShortTermStdp.intrinsic", must, brief.intrinsic)


def check_times(neurons: Lif, inhibition: Inhibition | None, dt_ms: float, tau_excitatory_ms: float) -> None:
    """Refuse time constants that are shorter than a step, or longer than can be counted in steps."""
    check.real("ComposedCircuit.dt_ms", dt_ms, above=0)
    check.real("ComposedCircuit.tau_excitatory_ms", tau_excitatory_ms, low=dt_ms)
    check_steps("neurons.tau_membrane_ms", neurons.tau_membrane_ms, dt_ms)
    check_steps("neurons.refractory_ms", neurons.refractory_ms, dt_ms)
    check_steps("tau_excitatory_ms", tau_excitatory_ms, dt_ms)
    for name in ("tau_ms", "tau_to_ms", "tau_from_ms"):
        if hasattr(inhibition, name):
            check.real(f"{type(inhibition).__name__}.{name}", getattr(inhibition, name), low=dt_ms)
    if isinstance(inhibition, PartnerInhibition):
        check_steps("partner.tau_membrane_ms", inhibition.partner.tau_membrane_ms, dt_ms)
        check_steps("partner.refractory_ms", inhibition.partner.refractory_ms, dt_ms)


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array


def _check_kind(name: str, value: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        wanted = ", ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"ComposedCircuit.{name} must be one of {wanted}; got {check.shown(value)}")
