"""Answers that agree among similar frames (after Boudiaf et al. 2022, "LAME", CVPR), in a causal window."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.heads.head_classifier import HeadClassifier
from springback.heads.search import Range
from springback_bench.rivals._arithmetic import log_softmax, unit
from springback_bench.rivals.rival import STRENGTH, Rival

_TOLERANCE = 1e-8
"""The iterations end when the objective changes by less than this share of itself, as in the article's experiments."""


class LaplacianState(NamedTuple):
    """The frames of the window: unit features (D, n), log-probabilities (D, K), their cosines (D, D), frames so far."""

    directions: NDArray[np.float32]
    log_p: NDArray[np.float64]
    cosines: NDArray[np.float32]
    n_frames: NDArray[np.int64]


class LaplacianAdjustment(HeadClassifier):
    """The answers to the last `window` frames, changed as little as possible to agree among neighbours (after LAME).

        y_i <- softmax(log p_i + strength * sum_(j in neighbours of i) y_j),   p_i = softmax(W x_i + b)

    The neighbours of a frame are the `n_neighbours` other frames of the window whose features have the largest cosine
    with its own. All y start at p and change together, until the objective of the article does not change any more or
    `iterations` are over. The answer is that of the newest frame; the next frame starts again from p. The article
    adjusts a batch at a time and leaves a batch of one frame as it is; a window of past frames makes it causal.

    Input: features (T, n). The method has no notion of time: `relax` and gaps between time stamps change nothing.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen head, (K, n).
    bias : NDArray[Any]
        Biases of the frozen head, (K,).
    window : int
        How many frames are adjusted together, with the newest; 1: the head as it is.
    n_neighbours : int
        Neighbours of a frame; the article has 5.
    strength : float
        What a neighbour that is certain adds to the logit of its class; 1 in the article, 0: the head as it is.
    iterations : int
        The largest number of iterations for one frame.

    Examples
    --------
    >>> model = LaplacianAdjustment(np.eye(2), np.zeros(2), window=3, n_neighbours=2)
    >>> model.track([[3.0, 1.0], [3.0, 1.0], [3.0, 3.1]]).argmax(axis=1)
    array([0, 0, 0])
    """

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        *,
        window: int = 64,
        n_neighbours: int = 5,
        strength: float = 1.0,
        iterations: int = 100,
    ) -> None:
        self.window = check.integer("window", window, low=1, high=10_000)
        self.n_neighbours = check.integer("n_neighbours", n_neighbours, low=1)
        self.strength = check.real("strength", strength, low=0, high=1e9)
        self.iterations = check.integer("iterations", iterations, low=1)
        super().__init__(weight, bias)

    def _init(self) -> LaplacianState:
        return LaplacianState(
            np.zeros((self.window, self.n_inputs), np.float32),
            np.zeros((self.window, self.n_classes)),
            np.zeros((self.window, self.window), np.float32),
            np.zeros(1, np.int64),
        )

    def _run(self, state: LaplacianState, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ARG002
        settings = (self.n_neighbours, self.strength, self.iterations)
        return np.asarray(_adjust(*state, rows, self.weight, self.bias, *settings))


@njit(cache=True, makes_arrays=True)
def _adjust(
    directions: Any,
    log_p: Any,
    cosines: Any,
    n_frames: Any,
    rows: Any,
    weight: Any,
    bias: Any,
    n_neighbours: int,
    strength: float,
    iterations: int,
) -> Any:
    window = len(directions)
    answers = np.empty((rows.shape[0], weight.shape[0]))
    for t in range(rows.shape[0]):
        newest = n_frames[0] % window
        n_frames[0] += 1
        filled = min(n_frames[0], window)
        log_p[newest] = log_softmax((weight @ rows[t] + bias).astype(np.float64))
        directions[newest] = unit(rows[t])
        cosines[newest, :filled] = directions[:filled] @ directions[newest]
        cosines[:filled, newest] = cosines[newest, :filled]
        neighbours = _nearest(cosines[:filled, :filled], min(n_neighbours, filled - 1))
        answers[t] = _agree(log_p[:filled], neighbours, strength, iterations)[newest]
    return answers


@njit(cache=True, makes_arrays=True)
def _nearest(cosines: Any, n_neighbours: int) -> Any:
    """Which other frames have the largest cosines with each frame, (D, n_neighbours)."""
    size = cosines.shape[0]
    nearest = np.empty((size, n_neighbours), np.int64)
    for i in range(size):
        left = cosines[i].copy()
        left[i] = -np.inf
        for place in range(n_neighbours):
            nearest[i, place] = left.argmax()
            left[nearest[i, place]] = -np.inf
    return nearest


@njit(cache=True, makes_arrays=True)
def _agree(log_p: Any, neighbours: Any, strength: float, iterations: int) -> Any:
    """The adjusted probabilities of all frames, (D, K)."""
    y, pulled = np.exp(log_p), np.empty_like(log_p)
    before = np.nan
    for _ in range(iterations):
        for i in range(len(y)):
            for k in range(y.shape[1]):
                votes = 0.0
                for j in neighbours[i]:
                    votes += y[j, k]
                pulled[i, k] = log_p[i, k] + strength * votes
        objective = 0.0
        for i in range(len(y)):
            largest, total = pulled[i].max(), 0.0
            for k in range(y.shape[1]):
                y[i, k] = np.exp(pulled[i, k] - largest)
                total += y[i, k]
            for k in range(y.shape[1]):
                y[i, k] /= total
            objective -= largest + np.log(total)  # sum_k y_k (ln y_k - pulled_k), since ln y = pulled - ln sum exp
        if abs(objective - before) <= _TOLERANCE * abs(before):
            break
        before = objective
    return y


RIVALS = (
    Rival(
        name="lame",
        title="LAME",
        about="answers within a causal window are made to agree among neighbours (after Boudiaf et al. 2022)",
        method=LaplacianAdjustment,
        ranges={
            "window": Range(2, 64, log=True, whole=True),
            "n_neighbours": Range(1, 10, log=True, whole=True),
            "strength": STRENGTH,
        },
        first=(
            (12, 7, 0.3638),
            (17, 10, 0.1328),
            (6, 9, 0.7493),
            (9, 10, 1.056),
            (2, 3, 0.7512),
            (13, 2, 5.384),
            (11, 2, 0.03255),
            (37, 1, 1.943),
        ),
        slow=True,
        microseconds=150,
    ),
)
