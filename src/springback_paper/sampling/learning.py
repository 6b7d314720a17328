"""Resting weights of the sampling networks, learned by STDP as online EM (Nessler et al. 2013).

Every output spike of neuron k is a sample from Q, so the inputs seen at its spikes are samples from its class. The
M-step of the cosine mixture (Theorem S3.1, Eq. S19) asks for the direction of their mean. Its running estimate
is local to the neuron, and moves only when it fires:

    output spike of k:   N_k <- N_k + 1,   W_k <- W_k + eta_k (X* - W_k),   eta_k = max(1 / N_k, rate_min)

and P_k = N_k / sum_l N_l. With eta = 1 / N this is stochastic EM in the sense of Robbins and Monro; with a lower bound
on eta it also forgets the assignments of early, wrong weights.

Nessler et al. learn logarithms: V_jk += eta (x_j exp(-V_jk) - 1). For w = exp(V) that is, to first order in eta,
w += w eta (x / w - 1) = eta (x - w): the rule above. Their fixed point exp(V_jk) = E[x_j | k fires] is ours. The
weights are used differently: theirs are exponents of a multinomial likelihood, ours the mean direction of a von
Mises-Fisher one, because the paper's similarity is the cosine. Their rule for the excitability,
V0_k += eta (exp(-V0_k) [k fired] - 1) at each spike of any neuron, makes exp(V0_k) the running share of spikes in the
same way; here it is P_k.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._random import Draws, seed_of
from springback_paper.sampling._constants import Learning, neurons_of
from springback_paper.sampling.network import LEARNING, empty_response, frames_of, init, present, sampling_weights
from springback_paper.sampling.params import SamplingCircuit
from springback_paper.sampling.state import SamplingWeights

_IMAGES_PER_CALL = 2000


@dataclass(frozen=True, kw_only=True)
class OnlineEm:
    """How resting weights are learned.

    Parameters
    ----------
    n_neurons : int
        Number of neurons.
    epochs : int
        How many times all images are shown, in a new order each time.
    rate_min : float
        Lower bound of eta.
    uses_prior : bool
        Whether a neuron that fired often becomes more excitable while learning. Otherwise all stay equally
        excitable (a homeostasis that keeps a few from taking over), and P_k is what was learned in the end.
    """

    n_neurons: int = 400
    epochs: int = 1
    rate_min: float = 0.01
    uses_prior: bool = False

    def __post_init__(self) -> None:
        check.integer("OnlineEm.n_neurons", self.n_neurons, low=1)
        check.integer("OnlineEm.epochs", self.epochs, low=0)
        check.real("OnlineEm.rate_min", self.rate_min, low=0, high=1)
        if not isinstance(self.uses_prior, bool):
            raise TypeError(f"OnlineEm.uses_prior must be True or False; got {self.uses_prior!r}")


def learn_resting(
    frames: NDArray[Any],
    *,
    circuit: SamplingCircuit,
    params: OnlineEm,
    seed: int = 0,
    start: SamplingWeights | None = None,
) -> SamplingWeights:
    """Weights and priors from still images, without labels; each image is seen from rest, for `circuit.show_ms`.

    Parameters
    ----------
    start : SamplingWeights | None
        Initial weights; None: randomly chosen images, one per neuron.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> images = np.array([[200, 0, 50], [0, 200, 50]], np.uint8)[rng.integers(0, 2, 100)]
    >>> found = learn_resting(images, circuit=SamplingCircuit(), params=OnlineEm(n_neurons=2), seed=0)
    >>> sorted(found.resting.T.round(2).tolist())
    [[0.0, 0.97..., 0.23...], [0.97..., 0.0, 0.23...]]
    """
    rng = np.random.default_rng(check.integer("seed", seed, low=0))
    n_inputs = int(np.prod(np.shape(frames)[1:]))
    rows = frames_of(frames, n_inputs, circuit)
    if start is None:
        start = random_inputs(rows, params.n_neurons, rng)
    check.array("start.resting", start.resting, shape=(n_inputs, params.n_neurons), dtype=np.float32)
    neurons = neurons_of(start, circuit, writeable=True)
    if not params.uses_prior:
        neurons.prior[:] = 1 / params.n_neurons
        neurons.bias[:] = neurons_of(SamplingWeights(start.resting, neurons.prior), circuit).bias
    state = init(start, circuit).state
    learning = Learning(rate_min=float(params.rate_min), uses_prior=params.uses_prior)
    response = empty_response(_IMAGES_PER_CALL, params.n_neurons)
    number = 0
    for _ in range(params.epochs):
        order = rng.permutation(len(rows))
        for begins in range(0, len(rows), _IMAGES_PER_CALL):
            some = rows[order[begins : begins + _IMAGES_PER_CALL]]
            draws = Draws(seed_of(seed), LEARNING, number)
            present(circuit, neurons, state, some, draws, response, learning=learning, each_from_rest=True)
            number += len(some)
    return sampling_weights(neurons.resting, neurons.n_learned)


def random_inputs(rows: NDArray[Any], n_neurons: int, rng: np.random.Generator) -> SamplingWeights:
    """Initial weights: images drawn without replacement, one per neuron; blank ones are left out.

    Examples
    --------
    >>> random_inputs(np.array([[0.0, 2.0], [0.0, 0.0]]), 1, np.random.default_rng(0)).resting
    array([[0.],
           [1.]], dtype=float32)
    """
    lit = np.flatnonzero(rows.any(axis=1))
    check.require(
        len(lit) >= n_neurons, "images that are not blank", f"be at least {n_neurons}, one per neuron", len(lit)
    )
    chosen = rng.choice(lit, n_neurons, replace=False)
    return sampling_weights(rows[chosen].T.astype(np.float64))
