"""A Markov filter that learns how classes follow each other while it runs (after Kim et al. 2026, "OATTA")."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.search import Range
from springback.streaming.stream_classifier import StreamClassifier, softmax
from springback_bench.rivals.rival import SHARPNESS, Rival


class LearnedTransitionsState(NamedTuple):
    """The belief about the last frame, (K,), the transitions counted so far, (K, K), and the gate's evidence, (1,)."""

    belief: NDArray[np.float64]
    counts: NDArray[np.float64]
    evidence: NDArray[np.float64]


class LearnedTransitions(StreamClassifier):
    """A Bayes filter with transitions learned from its own beliefs, and a gate that turns it off where it is useless.

        A_t(j, k) ~ counts_(t-1)(j, k) + prior_count / K             (rows sum to 1)
        pair_t(j, k) ~ belief_(t-1)(j) A_t(j, k) q_t(k),             q_t = softmax(sharpness * logits)
        belief_t(k) = sum_j pair_t(j, k),                            counts_t = d counts_(t-1) + pair_t
        evidence_t = g evidence_(t-1) + ln(K sum_k q_t(k) sum_j belief_(t-1)(j) A_t(j, k))

    with d = exp(-1 / memory) and g = exp(-1 / gate_memory). The evidence is the log-likelihood ratio of recent frames
    with the filter and without it (every class equally likely). The answer is the belief if the evidence is at least
    `gate`, otherwise q_t; the filter runs on behind a closed gate. It starts with uniform belief and no counts, where
    it answers as the network does. This follows the description of OATTA (arXiv 2601.21012): a recursive Bayesian
    estimate with transitions learned online, and a gate by a likelihood ratio. How exactly the article counts and tests
    was not available to us, so the rules above are our own.

    Input: logits (T, K). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    sharpness : float
        Multiplies the logits; below 1 if the network is too sure of itself.
    memory : float
        How many frames the counts last.
    prior_count : float
        Weight of uniform transitions, in frames per class; so large that nothing is learned: the network as it is.
    gate_memory : float
        Over how many frames the gate collects evidence.
    gate : float
        Evidence, in nats, below which the network answers alone; -1e9: the filter always answers.

    Examples
    --------
    >>> model = LearnedTransitions(2)
    >>> for _ in range(20):
    ...     _ = model.step([3.0, 0.0])
    >>> model.step([0.0, 0.5]).round(2), softmax(np.array([[0.0, 0.5]])).round(2)
    (array([0.95, 0.05]), array([[0.38, 0.62]]))
    """

    def __init__(
        self,
        n_classes: int,
        *,
        sharpness: float = 1.0,
        memory: float = 1000.0,
        prior_count: float = 1.0,
        gate_memory: float = 20.0,
        gate: float = 0.0,
    ) -> None:
        self.sharpness = check.real("sharpness", sharpness, above=0)
        self.memory = check.real("memory", memory, above=0, high=1e12)
        self.prior_count = check.real("prior_count", prior_count, low=1e-9, high=1e15)
        self.gate_memory = check.real("gate_memory", gate_memory, above=0, high=1e12)
        self.gate = check.real("gate", gate)
        super().__init__(n_classes)

    def _init(self) -> LearnedTransitionsState:
        k = self.n_classes
        return LearnedTransitionsState(np.full(k, 1 / k), np.zeros((k, k)), np.zeros(1))

    def _run(
        self,
        state: LearnedTransitionsState,
        rows: NDArray[Any],
        gaps: NDArray[np.float64],  # noqa: ARG002
    ) -> NDArray[np.float64]:
        decay, gate_decay = float(np.exp(-1 / self.memory)), float(np.exp(-1 / self.gate_memory))
        seen = softmax(rows, self.sharpness)
        return np.asarray(_learn(*state, seen, self.prior_count, decay, gate_decay, self.gate))


@njit(cache=True, makes_arrays=True)
def _learn(
    belief: Any,
    counts: Any,
    evidence: Any,
    seen: Any,
    prior_count: float,
    decay: float,
    gate_decay: float,
    gate: float,
) -> Any:
    k = len(belief)
    answers = np.empty_like(seen)
    for t in range(len(seen)):
        pair = counts + prior_count / k
        for j in range(k):
            pair[j] *= belief[j] / pair[j].sum()
        pair *= seen[t]
        likelihood = pair.sum()
        pair /= likelihood
        evidence *= gate_decay
        evidence += np.log(k * likelihood)
        counts *= decay
        counts += pair
        belief[:] = pair.sum(axis=0)
        answers[t] = belief if evidence[0] >= gate else seen[t]
    return answers


RIVALS = (
    Rival(
        name="learned-transitions",
        title="learned transitions",
        about="Bayes filter that learns its transitions online, behind a gate (after OATTA)",
        method=LearnedTransitions,
        reads="logits",
        ranges={
            "sharpness": SHARPNESS,
            "memory": Range(10.0, 10_000.0, log=True),
            "prior_count": Range(0.01, 100.0, log=True),
            "gate_memory": Range(1.0, 100.0, log=True),
            "gate": Range(-10.0, 2.0),
        },
        first=(
            (1.539, 11.57, 0.1747, 75.28, -3.539),
            (1.12, 19.62, 4.76, 84.04, 1.769),
            (0.5695, 16.8, 0.03159, 58.82, -4.31),
            (2.358, 11.9, 0.3081, 1.15, -8.525),
            (0.03076, 12.76, 1.586, 1.418, -7.57),
            (3.214, 15.84, 2.395, 53.78, 0.4048),
            (0.6913, 139.5, 1.035, 3.905, -2.118),
            (1.507, 129.5, 0.01807, 10.9, -0.9105),
        ),
        microseconds=3,
    ),
)
