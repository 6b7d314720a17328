"""A hidden Markov filter over classes: it knows how classes follow each other, and sees the network's outputs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.search import Range
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import SHARPNESS, Rival

_BITS = 53


def sticky_transitions(n_classes: int, stay: float = 0.9) -> NDArray[np.float64]:
    """Transitions (K, K) from row to column: stay with a given probability, or go to any other class equally often.

    Examples
    --------
    >>> sticky_transitions(3, 0.8)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    """
    check.integer("n_classes", n_classes, low=2)
    check.real("stay", stay, low=0, high=1)
    transitions = np.full((n_classes, n_classes), (1 - stay) / (n_classes - 1))
    np.fill_diagonal(transitions, stay)
    return transitions


def count_transitions(labels: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Transitions (K, K) as often as they occur in the labels of a (training) stream, plus one of each.

    Examples
    --------
    >>> count_transitions(np.array([0, 0, 0, 1]), 2)
    array([[0.6, 0.4],
           [0.5, 0.5]])
    """
    check.integer("n_classes", n_classes, low=1)
    labels = np.asarray(labels)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise TypeError(f"labels must be whole numbers, one per frame; got {labels.dtype} of shape {labels.shape}")
    low, high = (int(labels.min()), int(labels.max())) if len(labels) else (0, 0)
    must = f"lie in 0 ... {n_classes - 1}, one less than n_classes"
    check.require(low >= 0 and high < n_classes, "labels", must, low if low < 0 else high)
    counts = np.ones((n_classes, n_classes))
    np.add.at(counts, (labels[:-1], labels[1:]), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


class MarkovState(NamedTuple):
    """The belief about the class of the last frame, (K,)."""

    belief: NDArray[np.float64]


class MarkovFilter(StreamClassifier):
    """The belief about the class of each frame given all frames so far.

        belief_t(k) ~ p_t(k) / prior(k) * sum_j belief_(t-1)(j) transitions(j, k),   p_t = softmax(sharpness * logits)

    The belief starts as uniform.

    Input: logits (T, K). `relax` applies the transitions `elapsed` times, so time passes in whole steps only: each
    frame counts as if it came at the nearest one, in the unit of its memory. After many steps,
    the belief is the stationary distribution of the transitions (uniform for sticky ones).

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    transitions : NDArray[Any] | None
        Probabilities of the next class (column) given the present one (row), (K, K); None: `sticky_transitions` that
        leave a class with probability `switch_rate`.
    prior : NDArray[Any] | None
        Shares of the classes that the network was trained to expect, (K,); None: uniform.
    switch_rate : float
        Probability of another class at the next step, if no transitions are given.
    sharpness : float
        Multiplies the logits; below 1 if the network is too sure of itself.

    Examples
    --------
    >>> model = MarkovFilter(2, transitions=sticky_transitions(2, 0.9))
    >>> model.track(np.log([[0.9, 0.1], [0.4, 0.6]])).round(2)
    array([[0.9 , 0.1 ],
           [0.75, 0.25]])
    >>> model.step(np.log([0.9, 0.1])).round(2), model.relax(100).step(np.log([0.4, 0.6])).round(2)
    (array([0.9, 0.1]), array([0.4, 0.6]))
    """

    whole_steps = True

    def __init__(
        self,
        n_classes: int,
        *,
        transitions: NDArray[Any] | None = None,
        prior: NDArray[Any] | None = None,
        switch_rate: float = 0.1,
        sharpness: float = 1.0,
    ) -> None:
        super().__init__(n_classes)
        k = self.n_classes
        self.switch_rate = check.real("switch_rate", switch_rate, low=0, high=1)
        sticky = sticky_transitions(k, 1 - self.switch_rate)
        self.transitions = sticky if transitions is None else np.array(transitions, np.float64, order="C")
        check.array("transitions", self.transitions, shape=(k, k), dtype=np.float64)
        least, sums = float(self.transitions.min()), self.transitions.sum(axis=1)
        check.require(least >= 0, "transitions", "be >= 0 everywhere", least)
        check.require(np.allclose(sums, 1, rtol=0, atol=1e-6), "transitions", "have rows that sum to 1", sums.tolist())
        self.prior = np.full(k, 1 / k) if prior is None else np.array(prior, np.float64)
        check.array("prior", self.prior, shape=(k,), dtype=np.float64)
        check.require(bool((self.prior > 0).all()), "prior", "be > 0 for every class", float(self.prior.min()))
        self.sharpness = check.real("sharpness", sharpness, above=0)
        self._powers = _powers_of(self.transitions)

    def _init(self) -> MarkovState:
        return MarkovState(np.full(self.n_classes, 1 / self.n_classes))

    def _run(self, state: MarkovState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        likelihood = softmax(rows, self.sharpness) / self.prior
        return np.asarray(_filter(state.belief, likelihood, _whole(gaps), self._powers))

    def _relax(self, state: MarkovState, elapsed: float) -> None:
        steps = _whole(np.array([elapsed]))[0]
        if steps > 0:  # a sum that is not exactly 1 would otherwise change the belief although no time has passed
            state.belief[:] = _later(state.belief, steps, self._powers)
            state.belief[:] /= state.belief.sum()


def _whole(steps: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(np.minimum(steps, 2.0 ** (_BITS - 1))).astype(np.int64)


def _powers_of(transitions: NDArray[np.float64]) -> NDArray[np.float64]:
    """The transitions over 1, 2, 4, ... steps, (53, K, K): any number of steps is a product of a few of them."""
    powers = np.empty((_BITS, *transitions.shape))
    powers[0] = transitions
    for bit in range(1, _BITS):
        # Rounding would double with every square if rows were not kept at a sum of 1.
        power = powers[bit - 1] @ powers[bit - 1]
        powers[bit] = power / power.sum(axis=1, keepdims=True)
    return powers


@njit(cache=True, makes_arrays=True)
def _later(belief: Any, steps: int, powers: Any) -> Any:
    bit = 0
    while steps:
        if steps & 1:
            belief = belief @ powers[bit]
        steps >>= 1
        bit += 1
    return belief


@njit(cache=True, makes_arrays=True)
def _filter(state: Any, likelihood: Any, gaps: Any, powers: Any) -> Any:
    beliefs = np.empty(likelihood.shape)
    belief = state.copy()
    for t in range(likelihood.shape[0]):
        belief = likelihood[t] * _later(belief, gaps[t], powers) + 1e-300
        belief /= belief.sum()
        beliefs[t] = belief
    state[:] = belief
    return beliefs


RIVALS = (
    Rival(
        name="sticky-filter",
        title="sticky filter",
        about="Markov filter that stays in a class with a probability that is tuned",
        method=MarkovFilter,
        reads="logits",
        ranges={"switch_rate": Range(1e-6, 0.5, log=True), "sharpness": SHARPNESS},
        first=(
            (1.072e-06, 3.54),
            (0.03487, 0.4546),
            (0.000783, 4.736),
            (0.003514, 9.379),
            (2.835e-05, 0.3981),
            (3.35e-05, 4.99),
            (0.04958, 3.194),
            (1.668e-06, 0.926),
        ),
        microseconds=1,
    ),
    Rival(
        name="informed-filter",
        title="informed filter",
        about="Markov filter with the transitions counted on the labels of the validation streams",
        method=MarkovFilter,
        reads="logits",
        ranges={"sharpness": SHARPNESS},
        first=((0.6846,), (0.2851,), (2.034,), (1.133,), (3.952,), (0.6194,), (1.001,), (0.3265,)),
        informed=True,
        microseconds=1,
    ),
)
