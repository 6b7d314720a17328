"""The parameters of the sampling networks: winner-take-all circuits whose output spikes are samples of Q."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import erf, erfc

from springback import check
from springback.spiking.params import check_steps

Neuron = Literal["exponential", "relu"]
NEURONS: tuple[Neuron, ...] = ("exponential", "relu")

SWITCHES_FITTED = 5.0
"""The derived kernel is fitted for lags up to this many mean times between switches; 0.16 % of it is beyond them."""


class Exponentials(NamedTuple):
    """A kernel as a sum of exponentials: after `lag` steps a spike has the weight `sum_m share[m] * keep[m] ** lag`."""

    share: NDArray[np.float64]
    keep: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ExponentialKernel:
    """The STDP kernel `v(tau) = exp(-tau / tau_ms)`.

    Examples
    --------
    >>> ExponentialKernel(tau_ms=20.0).exponentials(0.5).share
    array([1.])
    """

    tau_ms: float = 20.0

    def __post_init__(self) -> None:
        check.real("ExponentialKernel.tau_ms", self.tau_ms, above=0)

    def exponentials(self, dt_ms: float) -> Exponentials:
        """The kernel at whole steps."""
        return Exponentials(np.ones(1), np.array([math.exp(-dt_ms / self.tau_ms)]))


@dataclass(frozen=True, kw_only=True)
class DerivedKernel:
    """The STDP kernel that the theory derives (S6.1, Eq. S94): `v(tau) = tau^-1/2 exp(-alpha tau)`.

    v has a pole at zero. A spike arrives at an unknown time within its step, so it counts with the mean of v over a
    step, `integral of v from m dt to (m + 1) dt, divided by dt`, after m steps: finite, and exact on average. That
    sequence is a mixture of exponentials with rates above alpha; `n_terms` of them, spread evenly on a logarithmic
    scale, are given the non-negative shares that fit it best in relative error. With 8 terms the error is below 2 %
    at every lag up to 5 / alpha, for any alpha * dt between 1e-4 and 0.1.

    Parameters
    ----------
    switch_rate_hz : float
        Alpha, the rate at which the observed object is replaced.
    n_terms : int
        Number of exponentials that approximate it.

    Examples
    --------
    >>> [float(w) for w in DerivedKernel(switch_rate_hz=10.0).weights(np.array([0, 1, 100]), 0.5).round(3)]
    [2.824, 1.163, 0.085]
    """

    switch_rate_hz: float = 10.0
    n_terms: int = 8

    def __post_init__(self) -> None:
        check.real("DerivedKernel.switch_rate_hz", self.switch_rate_hz, above=0)
        check.integer("DerivedKernel.n_terms", self.n_terms, low=1, high=32)

    def weights(self, lag: NDArray[np.integer], dt_ms: float) -> NDArray[np.float64]:
        """The weight of a spike after `lag` steps, in ms^-1/2: the mean of v over that step."""
        alpha = self.switch_rate_hz * 1e-3
        near, far = np.sqrt(alpha * dt_ms * lag), np.sqrt(alpha * dt_ms * (lag + 1.0))
        area = np.where(near > 1, erfc(near) - erfc(far), erf(far) - erf(near))
        return np.asarray(np.sqrt(np.pi / alpha) * area / dt_ms)

    def exponentials(self, dt_ms: float) -> Exponentials:
        """The sum of exponentials that approximates the kernel."""
        alpha = self.switch_rate_hz * 1e-3 * dt_ms
        name = "DerivedKernel.switch_rate_hz"
        check.require(alpha <= 1, name, "be at most one switch per step", self.switch_rate_hz)
        check.require(alpha >= 1e-12, name, "be at least one switch in 1e12 steps", self.switch_rate_hz)
        horizon = math.ceil(SWITCHES_FITTED / alpha)
        lag = np.unique(np.geomspace(1, horizon + 1, 500).astype(np.int64) - 1)
        rate = alpha + np.geomspace(0.05 * alpha, 4.0, self.n_terms)
        wanted = self.weights(lag, dt_ms)
        share, _ = nnls(np.exp(-rate * lag[:, None]) / wanted[:, None], np.ones(len(lag)))
        used = share > 0
        return Exponentials(share[used], np.exp(-rate[used]))


StdpKernel = ExponentialKernel | DerivedKernel


@dataclass(frozen=True, kw_only=True)
class SpikingInput:
    """Inputs that spike at random, at `pixel / 255 * rate_max_hz`; what they show is estimated from their spikes.

    Only the direction of either sum matters, since inputs and efficacies are normalised.

    Parameters
    ----------
    epsp_ms : float | None
        Every input spike adds its efficacy to the membrane for this long (a step, as in S6.3); None:
        the membrane feels the estimate that plasticity uses.
    kernel : StdpKernel
        How plasticity weighs past input spikes: its estimate of X is their sum under this kernel.
    """

    rate_max_hz: float = 63.75
    epsp_ms: float | None = 20.0
    kernel: StdpKernel = DerivedKernel()

    def __post_init__(self) -> None:
        check.real("SpikingInput.rate_max_hz", self.rate_max_hz, low=0)
        if self.epsp_ms is not None:
            check.real("SpikingInput.epsp_ms", self.epsp_ms, above=0)
        if not isinstance(self.kernel, ExponentialKernel | DerivedKernel):
            raise TypeError(f"SpikingInput.kernel must be ExponentialKernel or DerivedKernel; got {self.kernel!r}")


@dataclass(frozen=True, kw_only=True)
class SamplingCircuit:
    """A stochastic winner-take-all circuit (S6.3, Eqs. S95 to S99).

    With the similarity u_k, the cosine of input and efficacy, and a common inhibition I:

        "exponential"   r_k = exp(kappa u_k + G0_k - I) Hz,           G0_k = ln P_k
        "relu"          r_k = max(0, u_k + G0_k) / I Hz,              G0_k = P_k - threshold

    In both cases, a spike comes from neuron k with probability Q_k, for any I.

    Parameters
    ----------
    kappa : float
        Exponential neurons: concentration; 1 in the paper.
    threshold : float
        ReLU neurons: 1 in the paper, which silences any larger network: P - 1 is then near -1 for all neurons, and only
        an input that equals a centroid excites one.
    rate_hz : float
        The summed rate, which the inhibition keeps constant.
    inhibition : float | None
        A fixed I, from which the summed rate follows; rate_hz is then not used.
    silence_below : float | None
        No neuron fires while the largest similarity is below this; None: never.
    dt_ms : float
        Time step; in a step at most one neuron fires, with probability 1 - exp(-rate dt).
    show_ms : float
        How long each frame is shown.
    spikes : SpikingInput | None
        None: inputs are analog, and X is visible.
    """

    neuron: Neuron = "exponential"
    kappa: float = 40.0
    threshold: float = 0.5
    rate_hz: float = 100.0
    inhibition: float | None = None
    silence_below: float | None = None
    dt_ms: float = 0.5
    show_ms: float = 350.0
    spikes: SpikingInput | None = None

    def __post_init__(self) -> None:
        check.one_of("SamplingCircuit.neuron", self.neuron, NEURONS)
        check.real("SamplingCircuit.kappa", self.kappa, low=0, high=1e4)
        check.real("SamplingCircuit.threshold", self.threshold, low=-1, high=2)
        check.real("SamplingCircuit.rate_hz", self.rate_hz, low=0)
        if self.inhibition is not None and self.neuron == "relu":
            check.real("SamplingCircuit.inhibition", self.inhibition, above=0)
        elif self.inhibition is not None:
            check.real("SamplingCircuit.inhibition", self.inhibition, low=-1e4, high=1e4)
        if self.silence_below is not None:
            check.real("SamplingCircuit.silence_below", self.silence_below, low=-1, high=1)
        check.real("SamplingCircuit.dt_ms", self.dt_ms, above=0)
        check.real("SamplingCircuit.show_ms", self.show_ms, low=self.dt_ms)
        check_steps("show_ms", self.show_ms, self.dt_ms)
        if self.spikes is None:
            return
        if not isinstance(self.spikes, SpikingInput):
            raise TypeError(f"SamplingCircuit.spikes must be SpikingInput or None; got {self.spikes!r}")
        if self.spikes.epsp_ms is not None:
            check_steps("spikes.epsp_ms", self.spikes.epsp_ms, self.dt_ms)
        chance = self.spikes.rate_max_hz * self.dt_ms * 1e-3
        check.require(chance < 1, "SpikingInput.rate_max_hz", "be below one spike per step", self.spikes.rate_max_hz)


@dataclass(frozen=True, kw_only=True)
class SamplingStdp:
    """Short-term STDP of the sampling networks: the elastic pull with each output spike as a sample of Q.

        output spike of k:  F_k <- F_k + pull * max(0, c + (1 - c) W_k / max W_k) * X*     (Eqs. S88, S101)
        between:            F decays with memory_ms;      efficacy G = W + F

    X* is the input (or its estimate from spikes) at length one, as is W_k.

    Parameters
    ----------
    weight_dependence : float
        c; 1: no weight dependence.
    beta : float | None
        Odds of a novel object, in output spikes; the biases then move: P_k of the circuit becomes `(sum_i [k fired]
        f + beta P_k) / (sum_i f + beta)` over past output spikes i (Eqs. S25 and S71); None: biases stay at
        rest, as in the paper's simulations.
    """

    pull: float = 0.3
    weight_dependence: float = 1.0
    memory_ms: float = 400.0
    beta: float | None = None

    def __post_init__(self) -> None:
        check.real("SamplingStdp.pull", self.pull, low=0, high=1e6)
        check.real("SamplingStdp.weight_dependence", self.weight_dependence, low=-1e3, high=1)
        check.real("SamplingStdp.memory_ms", self.memory_ms, above=0)
        if self.beta is not None:
            check.real("SamplingStdp.beta", self.beta, above=0)
