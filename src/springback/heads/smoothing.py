"""What an observer with hindsight would answer: a judge of settings that needs no labels.

A recorded stream can be read in both directions. Where neighbouring frames look alike, they most likely show the same
object, so the answers of the frozen head to all frames of that object are pooled. This is a hidden Markov model whose
probability of staying with an object depends on how much alike two neighbours are, solved forwards and backwards. The
best views of an object count far more than the others, because a frozen head may be sure and wrong of a frame that
looks like nothing it was trained on: those for which the answer is most probable, and which point most in the direction
of the weights of that class.

An object may also go out of sight and return. So the answers are then averaged over all frames, before and after, that
look alike: the exact observer (`springback.heads.Observer`), looking both ways.
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
from springback.heads.scale import measure_scale
from springback.streaming.row_scaling import unit_rows

_SMALLEST = 1e-6
_LEAST_PAIRS = 2000
_LIMIT = 40.0


@dataclass(frozen=True, kw_only=True)
class Smoother:
    """How the answers of a frozen head are pooled over the frames of an object.

    Parameters
    ----------
    sharpness : float | None
        Spread of the logits of a usual frame, as in `Observer`; 1 pools the answers almost as a vote. None: the
        probabilities are those of the network.
    selection : float
        How much more the best views count: the weight of a frame is this power of its ranks, 0 ... 1, by the
        probability of the answer and by the cosine to the weights of the class. 0: all views count alike.
    best_view : float
        How much the best view of all counts, in frames that are independent of each other. Less than 1: neighbouring
        frames repeat each other.
    hazard : float
        Share of neighbours that do not show the same object, at the least. It is taken to be larger if neighbours look
        hardly more alike than any two frames.
    kappa : float
        How fast the odds that two frames show the same object fall as they differ, as in `Observer`.
    reach : int
        How many frames before and after are compared with a frame.

    Examples
    --------
    Six objects, four views of each; the third view of every object is mistaken for the next object:

    >>> views = np.repeat(np.eye(6), 4, axis=0)
    >>> answers = np.repeat(np.arange(6), 4)
    >>> answers[2::4] = (answers[2::4] + 1) % 6
    >>> pooled = Smoother(sharpness=2.0).pool([np.eye(6)[answers]], [views], np.eye(6))
    >>> bool((pooled[0].argmax(axis=1) == np.repeat(np.arange(6), 4)).all())
    True
    """

    sharpness: float | None = 3.0
    selection: float = 6.0
    best_view: float = 5.0
    hazard: float = 0.1
    kappa: float = 40.0
    reach: int = 60

    def __post_init__(self) -> None:
        check.reals(self, "sharpness", above=0, or_none=True)
        check.reals(self, "selection", "kappa", low=0)
        check.reals(self, "best_view", above=0)
        check.reals(self, "hazard", above=0, high=1)
        check.sizes(self, reach=0)

    def pool(
        self, logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]], weight: NDArray[Any]
    ) -> list[NDArray[np.float64]]:
        """Probabilities (T, K) of the classes of each stream.

        Parameters
        ----------
        logits, directions : Sequence[NDArray[Any]]
            Logits (T, K) and features (T, n) of unit length, of each stream.
        weight : NDArray[Any]
            Of the frozen head, (K, n).
        """
        scale, stays = measure_scale(logits, directions), staying(directions, self.hazard)
        kappa = self.kappa / scale.distance
        sharpened = 1.0 if self.sharpness is None else self.sharpness / scale.spread
        pooled = []
        views = _views(logits, directions, weight)
        for one, rows, stay, view in zip(logits, directions, stays, views, strict=True):
            likely = softmax(sharpened * np.asarray(one, np.float64), axis=1)
            counts = self.best_view * view[:, None] ** self.selection
            chained = _forward_backward(np.maximum(likely, _SMALLEST) ** counts, stay)
            pooled.append(np.asarray(_over_alike(chained, np.asarray(rows, np.float32), kappa, self.reach)))
        return pooled


def _views(
    logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]], weight: NDArray[Any]
) -> list[NDArray[np.float64]]:
    """How good a view of its object each frame is, 0 ... 1: its rank by probability times its rank by direction."""
    outputs = np.concatenate(list(logits)).astype(np.float64)
    answer = outputs.argmax(axis=1)
    towards = np.asarray(weight, np.float64) - np.mean(weight, axis=0, dtype=np.float64)
    towards = unit_rows(towards)[answer]
    along = np.einsum("ij,ij->i", np.concatenate(list(directions)), towards, dtype=np.float64)
    views = np.ones(len(outputs))
    for typical in (outputs.max(axis=1) - logsumexp(outputs, axis=1), along):
        views *= (rankdata(typical) - 0.5) / len(views)
    return np.split(views, np.cumsum([len(one) for one in logits])[:-1])


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


@njit(cache=True, makes_arrays=True)
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


@njit(cache=True, makes_arrays=True)
def _over_alike(answers: Any, directions: Any, kappa: float, reach: int) -> Any:
    """Answers (T, K) averaged over the frames within reach, by exp(kappa (cos - 1)) of unit features (T, n)."""
    n_frames = len(answers)
    averaged = np.empty_like(answers)
    for t in range(n_frames):
        averaged[t] = 0
        for i in range(max(0, t - reach), min(n_frames, t + reach + 1)):
            averaged[t] += np.exp(kappa * (np.dot(directions[i], directions[t]) - 1)) * answers[i]
        averaged[t] /= averaged[t].sum()
    return averaged
