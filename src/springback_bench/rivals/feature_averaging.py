"""The mean with the last features, where it makes the answer more certain (after Du et al. 2024, "UniTTA": COFA)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import log_softmax
from springback_bench.rivals.rival import Rival


class FeatureAveragingState(NamedTuple):
    """The features of the last frame, (n,), and whether there was one, (1,)."""

    previous: NDArray[np.float32]
    started: NDArray[np.bool_]


class FeatureAveraging(HeadClassifier):
    """Each frame is answered twice, alone and averaged with the frame before, and the more certain answer is kept.

        x'_t = (1 - share) x_t + share x_(t-1)

    The answer is softmax(W x + b) of x_t or of x'_t, whichever has the larger maximum (COFA with its confidence filter,
    of UniTTA, arXiv 2407.20080).

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,).
    share : float
        Weight of the last frame; 1/2 in the article, 0: the head as it is.

    Examples
    --------
    >>> model = FeatureAveraging(np.eye(2), np.zeros(2))
    >>> model.track([[3.0, 0.0], [1.0, 1.5]]).round(2)
    array([[0.95, 0.05],
           [0.78, 0.22]])
    """

    def __init__(self, weight: NDArray[Any], bias: NDArray[Any], *, share: float = 0.5) -> None:
        self.share = check.real("share", share, low=0, high=1)
        super().__init__(weight, bias)

    def _init(self) -> FeatureAveragingState:
        return FeatureAveragingState(np.zeros(self.n_inputs, np.float32), np.zeros(1, np.bool_))

    def _run(self, state: FeatureAveragingState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        return self._answers(_average(*state, rows, self.weight, self.bias, np.float32(self.share)))


@njit(cache=True, makes_arrays=True)
def _average(previous: Any, started: Any, rows: Any, weight: Any, bias: Any, share: Any) -> Any:
    logits = np.empty((rows.shape[0], weight.shape[0]), np.float32)
    for t in range(rows.shape[0]):
        logits[t] = weight @ rows[t] + bias
        if started[0]:
            averaged = weight @ (rows[t] + share * (previous - rows[t])) + bias
            if log_softmax(averaged).max() > log_softmax(logits[t]).max():
                logits[t] = averaged
        previous[:] = rows[t]
        started[0] = True
    return logits


RIVALS = (
    Rival(
        name="cofa",
        title="COFA",
        about="features averaged with those of the last frame, if that is more certain (UniTTA)",
        method=FeatureAveraging,
        ranges={"share": Range(0.0, 0.9)},
        first=((0.6876,), (0.8901,), (0.531,), (0.657,), (0.7624,), (0.2907,), (0.4211,), (0.6981,)),
    ),
)
