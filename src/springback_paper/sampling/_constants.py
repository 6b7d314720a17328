"""The sampling networks as the compiled loop takes them: params and weights -> constants.

The only place where their milliseconds become per-step factors.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import spike_odds, steps
from springback.spiking.encoding import AliasTable, new_alias_table, spikes_bound
from springback.spiking.params import Presentation
from springback_paper.sampling.params import SamplingCircuit, SamplingStdp
from springback_paper.sampling.state import SamplingWeights


class SamplingConstants(NamedTuple):
    """The circuit in steps and numbers.

    Parameters
    ----------
    relu : bool
        Kind of neuron.
    kappa, threshold : float
        See `SamplingCircuit`.
    chance : float
        Probability of an output spike in a step; an upper bound of it if not `adaptive`.
    adaptive : bool
        Whether the inhibition keeps the summed rate fixed.
    inhibition : float
        The fixed inhibition I, if not `adaptive`.
    silence : float
        Similarity below which no neuron fires.
    dt_s, n_show
        The step in seconds; steps per frame.
    """

    relu: bool
    kappa: float
    threshold: float
    chance: float
    adaptive: bool
    inhibition: float
    silence: float
    dt_s: float
    n_show: int


class Neurons(NamedTuple):
    """Resting weights (n_inputs, n_neurons) and what is derived from them; P and bias at rest; spikes learned from."""

    resting: NDArray[np.float32]
    length_squared: NDArray[np.float64]
    one_over_length: NDArray[np.float32]
    prior: NDArray[np.float64]
    bias: NDArray[np.float32]
    n_learned: NDArray[np.float64]


class Traces(NamedTuple):
    """Constants of spiking input: kernel as exponentials, steps of an EPSP (0: none), encoder with its buffers."""

    share: NDArray[np.float32]
    keep: NDArray[np.float64]
    window: int
    rates: NDArray[np.float64]
    which: NDArray[np.int32]
    first: NDArray[np.int64]
    alias_table: AliasTable


class SamplingShortTerm(NamedTuple):
    """Constants of short-term STDP per step; `top`: each neuron's largest resting weight; beta 0: biases at rest."""

    pull: float
    weight_dependence: float
    keep: float
    beta: float
    top: NDArray[np.float32]


class Learning(NamedTuple):
    """Constants of long-term learning, see `OnlineEm`."""

    rate_min: float
    uses_prior: bool


def neurons_of(weights: SamplingWeights, circuit: SamplingCircuit, *, writeable: bool = False) -> Neurons:
    """The weights as the compiled loop takes them; read-only unless it is to learn."""
    resting = check.array("SamplingWeights.resting", weights.resting, shape=(None, None), dtype=np.float32)
    prior = check.array("SamplingWeights.prior", weights.prior, shape=(resting.shape[1],), dtype=np.float64)
    square = np.einsum("jk,jk->k", resting, resting, dtype=np.float64)
    check.require(bool((square > 0).all()), "SamplingWeights.resting", "leave no neuron without weights", square.min())
    check.require(bool((prior > 0).all()), "SamplingWeights.prior", "be > 0 everywhere", prior.min())
    near_one = bool(abs(prior.sum() - 1) < 1e-6)
    check.require(near_one, "SamplingWeights.prior", "sum to 1", float(prior.sum()))
    bias = prior - circuit.threshold if circuit.neuron == "relu" else np.log(prior)
    arrays = (
        np.array(resting, order="C"),
        square,
        (1 / np.sqrt(square)).astype(np.float32),
        prior.copy(),
        bias.astype(np.float32),
        np.ones(len(prior)),
    )
    for array in arrays:
        array.flags.writeable = writeable
    return Neurons(*arrays)


def constants_of(circuit: SamplingCircuit, n_neurons: int) -> SamplingConstants:
    """The circuit in steps and numbers.

    With a given inhibition the summed rate is bounded, since no cosine exceeds one and the priors sum to one: by
    exp(kappa - I), or by (n_neurons (1 - threshold) + 1) / I. The circuit only has to be evaluated if a random number
    is below that bound.
    """
    dt_s, relu, given = circuit.dt_ms * 1e-3, circuit.neuron == "relu", circuit.inhibition
    rate = circuit.rate_hz
    if given is not None and relu:
        rate = (n_neurons * max(1 - circuit.threshold, 0) + 1) / given
    elif given is not None:
        rate = math.exp(min(circuit.kappa - given, 700.0))
    return SamplingConstants(
        relu=relu,
        kappa=circuit.kappa,
        threshold=circuit.threshold,
        chance=-math.expm1(-rate * (1 + 1e-5 * (1 + circuit.kappa) * (given is not None)) * dt_s),
        adaptive=given is None,
        inhibition=1.0 if given is None else float(given),
        silence=-2.0 if circuit.silence_below is None else float(circuit.silence_below),
        dt_s=dt_s,
        n_show=steps(circuit.show_ms, circuit.dt_ms, "show_ms"),
    )


def traces_of(circuit: SamplingCircuit, n_inputs: int) -> Traces | None:
    """The constants of spiking input, with fresh buffers (one for each thread)."""
    spikes = circuit.spikes
    if spikes is None:
        return None
    shape = spikes.kernel.exponentials(circuit.dt_ms)
    brightness = Presentation(intensity=1.0, rate_hz_per_level=spikes.rate_max_hz / 255, intensity_max=1.0)
    rates = spike_odds(brightness, 1.0, circuit.dt_ms)
    n_show, brightest = steps(circuit.show_ms, circuit.dt_ms, "show_ms"), n_inputs * float(rates[-1])
    n_spikes_max = spikes_bound(brightest, n_show)
    return Traces(
        share=(shape.share / shape.share.sum()).astype(np.float32),
        keep=shape.keep,
        window=epsp_steps(circuit),
        rates=rates,
        which=np.zeros(n_spikes_max, np.int32),
        first=np.zeros(n_show + 1, np.int64),
        alias_table=new_alias_table(n_inputs, brightest, n_spikes_max),
    )


def epsp_steps(circuit: SamplingCircuit) -> int:
    """How many steps an EPSP lasts; 0 if there is none.

    Examples
    --------
    >>> from springback_paper.sampling.params import SpikingInput
    >>> epsp_steps(SamplingCircuit(dt_ms=0.5, spikes=SpikingInput(epsp_ms=20.0)))
    40
    """
    if circuit.spikes is None or circuit.spikes.epsp_ms is None:
        return 0
    return max(steps(circuit.spikes.epsp_ms, circuit.dt_ms, "epsp_ms"), 1)


def short_term_constants(
    short_term: SamplingStdp | None, weights: SamplingWeights, circuit: SamplingCircuit
) -> SamplingShortTerm | None:
    """The constants of short-term STDP, or None if there is none."""
    if short_term is None:
        return None
    return SamplingShortTerm(
        pull=float(short_term.pull),
        weight_dependence=float(short_term.weight_dependence),
        keep=math.exp(-circuit.dt_ms / short_term.memory_ms),
        beta=0.0 if short_term.beta is None else float(short_term.beta),
        top=np.maximum(weights.resting.max(axis=0), np.float32(1e-20)),
    )
