"""What an observer with hindsight would answer: a judge of settings that needs no labels.

A recorded stream can be read in both directions. Where neighbouring frames look alike, they most likely show the same
object, so the answers of the frozen head to all frames of that object are pooled. This is a hidden Markov model whose
probability of staying with an object depends on how much alike two neighbours are, solved forwards and backwards. A
frame to which the head responds strongly, because it looks like what the head was trained on, counts more than others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax
from scipy.stats import rankdata

from springback import check
from springback.compiled import njit
from springback.heads.scale import usual_spread

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
        Share of neighbours that do not show the same object, at the least. It is taken to be larger if neighbours look
        hardly more alike than any two frames.

    Examples
    --------
    Six objects, four views of each; the third view of every object is mistaken for the next object:

    >>> views = np.repeat(np.eye(6), 4, axis=0)
    >>> answers = np.repeat(np.arange(6), 4)
    >>> answers[2::4] = (answers[2::4] + 1) % 6
    >>> pooled = Hindsight(sharpness=2.0).pool([np.eye(6)[answers]], [views])
    >>> bool((pooled[0].argmax(axis=1) == np.repeat(np.arange(6), 4)).all())
    True
    """

    sharpness: float = 1.5
    hazard: float = 0.1

    def __post_init__(self) -> None:
        check.real("Hindsight.sharpness", self.sharpness, above=0)
        check.real("Hindsight.hazard", self.hazard, above=0, high=1)

    def pool(self, logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
        """Probabilities (T, K) of the classes of each stream, from logits (T, K) and unit features (T, n)."""
        return self.pool_objects(logits, staying(directions, self.hazard))

    def pool_objects(
        self, logits: Sequence[NDArray[Any]], stays: Sequence[NDArray[np.float64]]
    ) -> list[NDArray[np.float64]]:
        """The same, from the probability that each frame shows the object of the frame before; see `staying`."""
        spread = usual_spread(logits)
        pooled = []
        for one, stay, counts in zip(logits, stays, _response_ranks(logits), strict=True):
            likely = np.maximum(softmax(self.sharpness / spread * np.asarray(one, np.float64), axis=1), _SMALLEST)
            pooled.append(np.asarray(_forward_backward(likely ** (2 * counts[:, None]), stay)))
        return pooled


def _response_ranks(logits: Sequence[NDArray[Any]]) -> list[NDArray[np.float64]]:
    """How strongly the head responds to each frame: the rank of ln sum exp of its logits among all frames, 0 ... 1."""
    strength = np.concatenate([logsumexp(np.asarray(one, np.float64), axis=1) for one in logits])
    ranks = (rankdata(strength) - 0.5) / len(strength)
    return np.split(ranks, np.cumsum([len(one) for one in logits])[:-1])


def staying(directions: Sequence[NDArray[Any]], hazard: float) -> list[NDArray[np.float64]]:
    """The probability that each frame shows the object of the frame before, (T,), from unit features (T, n).

    The similarities of neighbours are a mixture: p_near = (1 - h) p_same + h p_any, with p_any that of two frames drawn
    at random. So a pair with the ratio r = p_near / p_any shows the same object with probability 1 - h / r. A logistic
    regression that tells neighbours from random pairs gives ln r, and h is at most what r is for random pairs.

    Parameters
    ----------
    hazard : float
        The smallest h.
    """
    from sklearn.linear_model import LogisticRegression

    near = [np.einsum("ij,ij->i", one[1:], one[:-1], dtype=np.float64) for one in directions]
    alike = np.concatenate(near)
    if len(alike) == 0:
        return [np.zeros(len(one)) for one in directions]
    frames = np.concatenate(list(directions))
    first, second = np.random.default_rng(0).integers(0, len(frames), (2, max(_LEAST_PAIRS, len(alike))))
    anyhow = np.einsum("ij,ij->i", frames[first], frames[second], dtype=np.float64)
    kinds = np.repeat([1, 0], [len(alike), len(anyhow)])
    told = LogisticRegression(C=10.0, max_iter=1000)
    weights = np.where(kinds == 1, 1.0, len(alike) / len(anyhow))
    told.fit(_terms(np.concatenate([alike, anyhow])), kinds, sample_weight=weights)
    share = max(hazard, min(float(np.exp(np.median(told.decision_function(_terms(anyhow))))), 1.0))
    stays = []
    for one, pairs in zip(directions, near, strict=True):
        stay = np.zeros(len(one))
        if len(pairs):
            log_ratio = np.clip(told.decision_function(_terms(pairs)), -_LIMIT, _LIMIT)
            stay[1:] = np.clip(1 - share * np.exp(-log_ratio), 0, 1)
        stays.append(stay)
    return stays


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
