"""Prototype adjustment at test time (after Iwasawa & Matsuo 2021, "T3A", NeurIPS)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import entropy_of, log_softmax, unit, unit_rows
from springback_bench.rivals.rival import Rival


class PrototypeState(NamedTuple):
    """The features each class keeps, (K, n_support, n), their entropies, how many there are, and their sums, (K, n)."""

    support: NDArray[np.float32]
    entropies: NDArray[np.float64]
    filled: NDArray[np.int64]
    total: NDArray[np.float32]


class PrototypeAdjustment(HeadClassifier):
    """Prototypes that start at the class weights and take up the features of test frames (after T3A).

    Each class keeps a set of unit-length vectors: its own weight vector, and the `n_support` features that the frozen
    network gave to it with the lowest entropy. A frame joins the set of its class first. Its logits are then its inner
    products with the mean vector of each set, as in the article.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,).
    n_support : int
        How many features a class keeps; the article chooses among 1, 5, 20, 50, 100 and all.

    Examples
    --------
    >>> model = PrototypeAdjustment(np.eye(2), np.array([0.1, 0.0]), n_support=5)
    >>> np.log(model.step([1.0, 1.0])).round(2)
    array([-0.59, -0.8 ])
    """

    def __init__(self, weight: NDArray[Any], bias: NDArray[Any], *, n_support: int = 20) -> None:
        self.n_support = check.integer("n_support", n_support, low=1)
        super().__init__(weight, bias)

    def _init(self) -> PrototypeState:
        k, n = self.weight.shape
        return PrototypeState(
            support=np.zeros((k, self.n_support, n), np.float32),
            entropies=np.full((k, self.n_support), np.inf),
            filled=np.zeros(k, np.int64),
            total=unit_rows(self.weight),
        )

    def _run(self, state: PrototypeState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        return self._answers(_adjust(state, rows, self.weight, self.bias))


@njit(cache=True, makes_arrays=True)
def _adjust(state: Any, x: Any, w: Any, bias: Any) -> Any:
    support, entropies, filled, total = state
    k, n_support = entropies.shape
    logits = np.empty((x.shape[0], k), np.float32)
    for t in range(x.shape[0]):
        frozen = w @ x[t] + bias
        entropy = entropy_of(log_softmax(frozen))
        mine = frozen.argmax()
        place = filled[mine] if filled[mine] < n_support else entropies[mine].argmax()
        if filled[mine] < n_support or entropy < entropies[mine, place]:
            direction = unit(x[t])
            total[mine] += direction - support[mine, place]
            support[mine, place] = direction
            entropies[mine, place] = entropy
            filled[mine] = min(filled[mine] + 1, n_support)
        for one in range(k):
            logits[t, one] = (total[one] @ x[t]) / (1 + filled[one])
    return logits


RIVALS = (
    Rival(
        name="t3a",
        title="T3A",
        about="prototypes from frames of low entropy (after Iwasawa & Matsuo 2021)",
        method=PrototypeAdjustment,
        ranges={"n_support": Range(1, 1000, log=True, whole=True)},
        first=((3,), (151,), (10,), (37,), (17,), (36,), (8,), (77,)),
    ),
)
