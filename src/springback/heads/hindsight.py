"""What an observer with hindsight would answer: a judge of settings that needs no labels.

A recorded stream can be read in both directions. Where neighbouring frames look alike, they most likely show the same
object, so the answers of the frozen head to all frames of that object are pooled. This is a hidden Markov model whose
probability of staying with an object depends on how much alike two neighbours are, solved forwards and backwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit

_SMALLEST = 1e-6
_LEAST_PAIRS = 2000
_LIMIT = 40.0


@dataclass(frozen=True, kw_only=True)
class Hindsight:
    """How the answers of a frozen head are pooled over the frames of an object.

    Parameters
    ----------
    sharpness : float
        Spread of the logits of a usual frame, as in `Observer`; 1 pools the answers almost as a vote.
    hazard : float
        Share of neighbours that do not show the same object, at the least.

    Examples
    --------
    Four views of a first object and four of a second; the third view of each is mistaken for the other:

    >>> looks = np.repeat(np.eye(2), 4, axis=0) + 0.05 * np.random.default_rng(0).standard_normal((8, 2))
    >>> answers = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    >>> pooled = Hindsight(sharpness=2.0).pool([np.eye(2)[answers]], [looks / np.linalg.norm(looks, axis=1)[:, None]])
    >>> pooled[0].argmax(axis=1)
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    sharpness: float = 1.0
    hazard: float = 0.1

    def __post_init__(self) -> None:
        check.real("Hindsight.sharpness", self.sharpness, above=0)
        check.real("Hindsight.hazard", self.hazard, above=0, high=1)

    def pool(self, logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
        """Probabilities (T, K) of the classes of each stream, from logits (T, K) and unit features (T, n)."""
        spread = float(np.median(np.concatenate([np.ptp(one, axis=1) for one in logits])))
        check.require(spread > 0, "logits", "differ between classes", "equal logits")
        pooled = []
        for one, odds in zip(logits, log_odds_of_neighbours(directions), strict=True):
            scaled = self.sharpness / spread * np.asarray(one, np.float64)
            likely = np.exp(scaled - scaled.max(axis=1, keepdims=True))
            likely = np.maximum(likely / likely.sum(axis=1, keepdims=True), _SMALLEST)
            stay = np.clip(1 - self.hazard * np.exp(-np.clip(odds, -_LIMIT, _LIMIT)), 0, 1)
            pooled.append(np.asarray(_forward_backward(likely, stay)))
        return pooled


def log_odds_of_neighbours(directions: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Ln p(similarity | neighbours) / p(similarity | any two frames), of each frame and the one before it, (T,).

    A logistic regression tells pairs of neighbours from pairs drawn at random. The first frame has no neighbour.
    """
    from sklearn.linear_model import LogisticRegression

    near = [np.einsum("ij,ij->i", one[1:], one[:-1], dtype=np.float64) for one in directions]
    frames = np.concatenate(list(directions))
    alike = np.concatenate(near)
    if len(alike) == 0:
        return [np.full(len(one), -_LIMIT) for one in directions]
    first, second = np.random.default_rng(0).integers(0, len(frames), (2, max(_LEAST_PAIRS, len(alike))))
    random = np.einsum("ij,ij->i", frames[first], frames[second], dtype=np.float64)
    kinds = np.repeat([1, 0], [len(alike), len(random)])
    weights = np.where(kinds == 1, 1.0, len(alike) / len(random))
    told = LogisticRegression(C=10.0, max_iter=1000)
    told.fit(_terms(np.concatenate([alike, random])), kinds, sample_weight=weights)
    return [
        np.concatenate([[-_LIMIT], told.decision_function(_terms(one))]) if len(one) else np.full(1, -_LIMIT)
        for one in near
    ]


def _terms(similarity: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.stack([similarity, similarity**2], axis=1)


@njit(cache=True)
def _forward_backward(likely: Any, stay: Any) -> Any:
    """Posteriors (T, K) of a chain that stays with probability `stay[t]`, or else jumps to any class."""
    n_frames, n_classes = likely.shape
    forward = np.empty((n_frames, n_classes))
    before = np.full(n_classes, 1 / n_classes)
    for t in range(n_frames):
        forward[t] = (stay[t] * before + (1 - stay[t]) / n_classes) * likely[t]
        forward[t] /= forward[t].sum()
        before = forward[t]
    after = np.ones(n_classes)
    for t in range(n_frames - 2, -1, -1):
        seen = likely[t + 1] * after
        after = stay[t + 1] * seen + (1 - stay[t + 1]) * seen.mean()
        after /= after.sum()
        forward[t] *= after
        forward[t] /= forward[t].sum()
    return forward
