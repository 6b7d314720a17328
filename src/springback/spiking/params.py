"""The parameters of the spiking network: frozen records with units in their names.

Defaults are those of the paper's Table 1 and, if it does not give one, of the code it builds on (Diehl & Cook 2015).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from springback import check

MOST_STEPS = 1_000_000
"""The largest number of time steps in a duration; with more, a frame would need gigabytes and minutes."""

MOST_SYNAPSES = 1 << 31
"""The largest number of synapses; their weights take 8 GiB in single precision."""

_MOST_ATTEMPTS = 1000
LARGEST = 1e6
"""The largest weight, rate or pull; beyond it, results leave the range of single precision."""


def check_steps(name: str, duration_ms: float, dt_ms: float) -> None:
    """Refuse a time step so short that a duration takes more than `MOST_STEPS` of it.

    Examples
    --------
    >>> check_steps("show_ms", 350.0, 1e-7)
    Traceback (most recent call last):
    ValueError: dt_ms must be at least 0.00035, since show_ms = 350; got 1e-07, which means 3,500,000,000 steps
    """
    n_steps = duration_ms / dt_ms
    if n_steps > MOST_STEPS:
        raise ValueError(
            f"dt_ms must be at least {duration_ms / MOST_STEPS:g}, since {name} = {duration_ms:g}; got {dt_ms:g}, "
            f"which means {n_steps:,.0f} steps"
        )


@dataclass(frozen=True, kw_only=True)
class ExcitatoryNeuron:
    """A leaky integrate-and-fire neuron that learns (Table 1); it fires at theta + offset (Diehl & Cook 2015)."""

    tau_membrane_ms: float = 100.0
    v_rest_mv: float = -65.0
    v_reset_mv: float = -65.0
    threshold_offset_mv: float = -72.0
    refractory_ms: float = 5.0
    e_excitatory_mv: float = 0.0
    e_inhibitory_mv: float = -100.0

    def __post_init__(self) -> None:
        check_neuron(self, 1000)


@dataclass(frozen=True, kw_only=True)
class InhibitoryNeuron:
    """The partner of an excitatory neuron; its spike inhibits all the others (Table 1; threshold: Diehl & Cook).

    The reversal potential of -85 mV that Table 1 gives for its inhibition is not used, because nothing inhibits it.

    Parameters
    ----------
    exact_step : bool
        Whether its potential follows the exact solution for the conductance at the beginning of a step, instead of the
        linearly implicit step of all other membranes. With the default values, one spike of its neuron then makes it
        fire in the next step, as with the explicit Euler steps of Diehl & Cook's code, and inhibition acts after two
        steps; the implicit step leaves it 0.1 mV short of its threshold, and inhibition acts after three.

    Examples
    --------
    >>> InhibitoryNeuron(exact_step=True).v_threshold_mv
    -40.0
    """

    tau_membrane_ms: float = 10.0
    v_rest_mv: float = -60.0
    v_reset_mv: float = -45.0
    v_threshold_mv: float = -40.0
    refractory_ms: float = 2.0
    e_excitatory_mv: float = 0.0
    exact_step: bool = False

    def __post_init__(self) -> None:
        check_neuron(self, 1000)
        check.reals(self, "v_threshold_mv", above=self.v_rest_mv)


def check_neuron(neuron: object, most_mv: float) -> None:
    """Refuse a neuron with impossible times, or with potentials beyond `most_mv`."""
    check.reals(neuron, "tau_membrane_ms", above=0)
    check.reals(neuron, "refractory_ms", low=0)
    check.reals(neuron, *(name for name in vars(neuron) if name.endswith("_mv")), low=-most_mv, high=most_mv)


@dataclass(frozen=True, kw_only=True)
class Circuit:
    """The winner-take-all microcircuit: inputs -> excitatory neurons <-> their inhibitory partners.

    Parameters
    ----------
    n_inputs, n_neurons : int
        Size; the paper has 784 and 400.
    dt_ms : float
        Time step.
    tau_excitatory_ms, tau_inhibitory_ms : float
        Decay of the conductances (Table 1).
    weight_to_inhibitory : float
        Excitatory neuron -> its partner (Diehl & Cook).
    weight_from_inhibitory : float
        Partner -> all other excitatory neurons (Diehl & Cook).

    Examples
    --------
    >>> Circuit(n_neurons=100).n_inputs
    784
    """

    n_inputs: int = 784
    n_neurons: int = 400
    dt_ms: float = 0.5
    excitatory: ExcitatoryNeuron = field(default_factory=ExcitatoryNeuron)
    inhibitory: InhibitoryNeuron = field(default_factory=InhibitoryNeuron)
    tau_excitatory_ms: float = 1.0
    tau_inhibitory_ms: float = 2.0
    weight_to_inhibitory: float = 10.4
    weight_from_inhibitory: float = 17.0

    def __post_init__(self) -> None:
        check.sizes(self, n_inputs=1, n_neurons=1)
        check.reals(self, "dt_ms", above=0)
        check.reals(self, "tau_excitatory_ms", "tau_inhibitory_ms", low=self.dt_ms)
        check.reals(self, "weight_to_inhibitory", "weight_from_inhibitory", low=0, high=LARGEST)
        n_synapses = int(self.n_inputs) * int(self.n_neurons)
        check.require(
            n_synapses <= MOST_SYNAPSES,
            "Circuit.n_inputs * n_neurons",
            f"be at most {MOST_SYNAPSES:,} synapses, which take 8 GiB",
            n_synapses,
        )
        for name, neuron in (("excitatory", self.excitatory), ("inhibitory", self.inhibitory)):
            check_steps(f"{name}.tau_membrane_ms", neuron.tau_membrane_ms, self.dt_ms)
            check_steps(f"{name}.refractory_ms", neuron.refractory_ms, self.dt_ms)
        check_steps("tau_excitatory_ms", self.tau_excitatory_ms, self.dt_ms)
        check_steps("tau_inhibitory_ms", self.tau_inhibitory_ms, self.dt_ms)


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """How an image becomes spikes: each pixel fires at random at `pixel * rate_hz_per_level * intensity` Hz.

    Parameters
    ----------
    show_ms, rest_ms : float
        Duration of an image, and of the pause without input after it.
    spikes_min : int
        An image that gives fewer output spikes is shown again, brighter by `intensity_step`, up to `intensity_max`;
        0: every image is shown once.
    """

    intensity: float = 2.0
    rate_hz_per_level: float = 0.125
    show_ms: float = 350.0
    rest_ms: float = 150.0
    spikes_min: int = 5
    intensity_step: float = 1.0
    intensity_max: float = 32.0

    def __post_init__(self) -> None:
        check.reals(self, "intensity", "rate_hz_per_level", "rest_ms", low=0)
        check.reals(self, "show_ms", "intensity_step", above=0)
        check.sizes(self, spikes_min=0)
        check.reals(self, "intensity_max", low=self.intensity)
        attempts = (self.intensity_max - self.intensity) / self.intensity_step
        check.require(
            self.spikes_min == 0 or attempts <= _MOST_ATTEMPTS,
            "Presentation.intensity_step",
            f"reach intensity_max = {self.intensity_max:g} in at most {_MOST_ATTEMPTS} attempts",
            self.intensity_step,
        )


@dataclass(frozen=True, kw_only=True)
class Streaming(Presentation):
    """How the frames of a stream are shown: 350 ms each, without rest, never repeated (Methods, "SNN inference").

    Parameters
    ----------
    threshold_shift_mv : float
        Added to every threshold while streaming, with short-term STDP and without it.

    Examples
    --------
    >>> Streaming(intensity=3.5).rest_ms
    0.0
    """

    intensity: float = 3.0
    rest_ms: float = 0.0
    spikes_min: int = 0
    threshold_shift_mv: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check.real("Streaming.threshold_shift_mv", self.threshold_shift_mv, low=-1000, high=1000)


@dataclass(frozen=True, kw_only=True)
class LongTermStdp:
    """Triplet STDP with homeostasis and normalised weights: how resting weights are learned (Diehl & Cook 2015).

    On an input spike `w -= rate_pre * post_1`; on an output spike `w += rate_post * pre * post_2`, with `post_2` as it
    was before this spike. Traces are set to 1 by a spike and decay: only the nearest spike counts.

    Parameters
    ----------
    weight_sum : float
        Each neuron's weights are scaled to this sum before each image.
    weight_length : float | None
        If given, they are scaled to this Euclidean length instead, as the centroids of the theory are; their sums then
        differ.
    weight_start_max : float
        Weights start at `weight_start_max * (uniform(0, 1) + 0.01)`.
    theta_start_mv, theta_step_mv, tau_theta_ms : float
        The threshold's adaptive part: start, step per spike, decay.
    theta_decays_at_rest : bool
        Whether it also decays in the pauses; the paper says no.
    """

    rate_pre: float = 1e-4
    rate_post: float = 1e-2
    tau_pre_ms: float = 20.0
    tau_post_1_ms: float = 20.0
    tau_post_2_ms: float = 40.0
    weight_max: float = 1.0
    weight_sum: float = 78.0
    weight_length: float | None = None
    weight_start_max: float = 0.3
    theta_start_mv: float = 20.0
    theta_step_mv: float = 0.05
    tau_theta_ms: float = 1e7
    theta_decays_at_rest: bool = False

    def __post_init__(self) -> None:
        check.reals(self, "rate_pre", "rate_post", "theta_step_mv", low=0, high=LARGEST)
        check.reals(self, "tau_pre_ms", "tau_post_1_ms", "tau_post_2_ms", "tau_theta_ms", above=0)
        check.reals(self, "weight_max", "weight_sum", above=0, high=LARGEST)
        check.reals(self, "weight_length", above=0, high=LARGEST, or_none=True)
        check.reals(self, "weight_start_max", above=0, high=self.weight_max / 1.01)
        check.reals(self, "theta_start_mv", low=-1000, high=1000)


@dataclass(frozen=True, kw_only=True)
class IntrinsicPlasticity:
    """Short-term excitability of the soma, the bias F0 of Algorithm 1: a spike lowers its neuron's threshold.

    With a negative `step_mv` a spike raises the threshold instead, and the neuron adapts.
    """

    step_mv: float = 0.2
    tau_ms: float = 300.0
    max_mv: float = 10.0

    def __post_init__(self) -> None:
        check.reals(self, "step_mv", low=-1000, high=1000)
        check.reals(self, "tau_ms", above=0)
        check.reals(self, "max_mv", low=0, high=1000)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShortTermStdp:
    """Short-term STDP (Eqs. 1 to 3), with the weight dependence of S7 (Eq. S101).

    The trace of an input grows by 1 with each of its spikes and decays with `tau_trace_ms`. On an output spike
    `F += pull * max(0, c + (1 - c) W) * trace`; F decays with `memory_ms`; the efficacy is G = W + F.

    Parameters
    ----------
    pull : float
        How much a pair of spikes adds to a synapse.
    weight_dependence : float
        The paper's c: at 1 all synapses are pulled equally; below 0 only those that have weight.
    memory_ms : float | NDArray[np.float64]
        Time constant with which a synapse springs back: one number, one per neuron (n_neurons,), or one per synapse
        (n_inputs, n_neurons).
    efficacy_max : float | None
        Upper bound of G; None: no bound.
    intrinsic : IntrinsicPlasticity | None
        None, or a short-term excitability of the soma.
    delay_ms : float | None
        The synapses of a neuron are pulled only once it has been active for this long, so that a winner that is soon
        replaced by another one is not pulled; None: from its first spike.
    pause_ms : float
        A neuron that has been silent for longer than this is no longer active, and its delay starts again.
    """

    pull: float = 0.7
    weight_dependence: float = -0.3
    memory_ms: float | NDArray[np.float64] = 300.0
    tau_trace_ms: float = 20.0
    efficacy_max: float | None = None
    intrinsic: IntrinsicPlasticity | None = None
    delay_ms: float | None = None
    pause_ms: float = 200.0

    def __post_init__(self) -> None:
        check.reals(self, "pull", low=0, high=LARGEST)
        check.reals(self, "weight_dependence", low=-1000, high=1)
        check.reals(self, "tau_trace_ms", "pause_ms", above=0)
        check.reals(self, "efficacy_max", above=0, or_none=True)
        check.reals(self, "delay_ms", low=0, or_none=True)
        if isinstance(self.memory_ms, np.ndarray):
            name, tau = "ShortTermStdp.memory_ms", self.memory_ms
            numbers = np.issubdtype(tau.dtype, np.floating) or np.issubdtype(tau.dtype, np.integer)
            check.require(bool(numbers), name, "hold numbers", str(tau.dtype))
            smallest = float(tau.min()) if tau.size else 0.0
            check.require(smallest > 0, name, "be > 0 everywhere", smallest)
            check.require(bool(np.isfinite(tau).all()), name, "be finite everywhere", float(tau.max()))
        else:
            check.real("ShortTermStdp.memory_ms", self.memory_ms, above=0)
