"""Answers that may wait: what the frames after it tell about a frame, by the same model that an `Observer` follows.

After frame t, the observer believes Q_t. If its class were k, the later frames would have the probability

    beta_t(k) = product over s > t of Z_s(k),
    Z_s(k) = sum_j (novelty_odds s_j + sum_i f_i l_i Q_i(j) (K s_j)^evidence)

with the likeness l_i, and with every later Q_i as the observer finds it then: Z_s(k) is what its posterior of frame s
is divided by. So the answer with hindsight is Q_t(k) beta_t(k), normalised. If the class of frame t is k, that tells
about the frames before it as well: frame i shows the same object with the probability

    r_i(k) = f_i l_i Q_i(k) (K s_k)^evidence / (what Q_t(k) is before it is normalised),

so Q_t is [class k] in Z_s(k), and Q_i is (1 - r_i(k)) Q_i + r_i(k) [class k].

With one frame to wait for, this is exact for what the observer believes of the frames before t, each by itself; with a
memory of one frame, it is the exact backward message of a hidden Markov model, for any wait. Otherwise it is an
approximation of the same kind as the observer's own answers: exact posteriors take all classes of all remembered frames
together. In the tests, which enumerate these, it is as close to them as the answers without a wait are to theirs.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax as _softmax

from springback.heads.continuity import PRIOR_SQUARES, PRIOR_SUM
from springback.heads.memories.observer import Observer
from springback.heads.scale import SMALLEST_DISTANCE, SMALLEST_SPREAD
from springback.streaming.row_scaling import unit_rows

_BYTES_OF_COPIES = 2**24
_FRAMES_AT_ONCE = 16
_ALIKE = 1e-9
"""Where all that is remembered differs by less than this between the classes, later frames tell them apart no more."""


def require_observer(settings: Any) -> None:
    """Refuse settings whose answers cannot wait: one that learns would judge the wait without what it has learned."""
    if type(settings) is not Observer:
        raise TypeError(f"answers can only wait if the settings are an Observer; got {type(settings).__name__}")


def answers_with_hindsight(
    head: Any, state: Any, rows: NDArray[np.float32], gaps: NDArray[np.float64], lag: int, *, most: int | None = None
) -> NDArray[np.float64]:
    """Class probabilities (T, K) of the first `most` frames given `lag` frames after each; moves the state over them.

    `head` is an `ElasticHead`, which imports this module.
    """
    require_observer(head.settings)
    answers = np.empty((len(rows) if most is None else most, head.n_classes))
    for t in range(len(answers)):
        here = int(state.position[0, 0])
        followed = head.follow_streams(state, rows[t : t + 1], gaps[t : t + 1, None])
        answers[t] = followed.posterior[0]
        later = slice(t + 1, t + 1 + lag)
        if len(rows[later]):
            frozen, sharp = _frozen(head, state, rows[t])
            same = _same_object(head, state, here, rows[t], frozen, float(followed.novelty[0]))
            told = _message(head, state, same, rows[later], gaps[later])
            answers[t] = _answer(head, state, here, frozen, sharp, told)
    return answers


class Behind:
    """Frames of a live stream whose answers still wait, and the state before the first of them.

    `owner` is the `id` of their head: a copy of the head does not answer them.
    """

    def __init__(self, state: Any, lag: int, *, owner: int) -> None:
        self.state, self.lag, self.owner = state, lag, owner
        self.ahead: Any = None
        self.rows: list[NDArray[np.float32]] = []
        self.gaps: list[float] = []

    def answer(self, head: Any) -> NDArray[np.float64]:
        """Class probabilities (K,) of the first frame given those after it; it waits no longer."""
        found = answers_with_hindsight(head, self.state, np.stack(self.rows), np.array(self.gaps), self.lag, most=1)[0]
        del self.rows[0], self.gaps[0]
        return np.asarray(found)


def _frozen(head: Any, state: Any, row: NDArray[np.float32]) -> tuple[NDArray[np.float64], float]:
    """What the frozen head answers to the last frame, (K,), as an observer reads it, and what multiplies its logits."""
    spread = float(state.spread[0, 0]) if head.scale is None else head.scale.spread
    sharp = head.settings.sharpness / spread if spread > SMALLEST_SPREAD else 0.0
    return _softmax(sharp * (head.weight.astype(np.float64) @ row + head.bias)), sharp


def _same_object(
    head: Any, state: Any, here: int, row: NDArray[np.float32], frozen: NDArray[np.float64], novelty: float
) -> NDArray[np.float64]:
    """The probability that the last frame shows the object of each remembered one, if its class were known, (D, K)."""
    settings = head.settings
    unit = unit_rows((row - head._centring)[None].astype(np.float64))[0]
    measured = max(1 - float(np.square(state.direction[0]).sum()), SMALLEST_DISTANCE)
    apart = measured if head.scale is None else head.scale.distance
    alike = np.exp(settings.kappa / apart * (state.keys[0].astype(np.float64) @ unit - 1))
    evidence = (head.n_classes * frozen) ** settings.evidence
    shares = (state.odds[0] * alike)[:, None] * state.posteriors[0] * evidence
    whole = state.posteriors[0, here] * settings.novelty_odds / novelty
    same: NDArray[np.float64] = np.divide(shares, whole, out=np.zeros_like(shares), where=whole > 0).clip(0, 1)
    same[here] = 1.0
    return same


def _message(
    head: Any, state: Any, same: NDArray[np.float64], rows: NDArray[np.float32], gaps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The logarithm of beta (K,), up to a constant: each class in a copy of the state that is sure of it."""
    n_classes = head.n_classes
    at_once = max(1, _BYTES_OF_COPIES // sum(part.nbytes for part in state))
    groups = [np.arange(n_classes)[start : start + at_once] for start in range(0, n_classes, at_once)]
    copies = [type(state)._make(np.repeat(part, len(group), axis=0) for part in state) for group in groups]
    for group, copy in zip(groups, copies, strict=True):
        known, sure = same.T[group, :, None], np.eye(n_classes)[group]
        copy.posteriors[:] = (1 - known) * copy.posteriors + known * sure[:, None]
    found = np.zeros(n_classes)
    for start in range(0, len(rows), _FRAMES_AT_ONCE):
        some = slice(start, start + _FRAMES_AT_ONCE)
        for group, copy in zip(groups, copies, strict=True):
            shown = np.repeat(rows[some], len(group), axis=0)
            novelty = head.follow_streams(copy, shown, np.repeat(gaps[some, None], len(group), axis=1)).novelty
            found[group] -= np.log(novelty).reshape(-1, len(group)).sum(axis=0)  # novelty is novelty_odds / Z
        most = np.max([copy.posteriors.max(axis=0) for copy in copies], axis=0)
        least = np.min([copy.posteriors.min(axis=0) for copy in copies], axis=0)
        if float((copies[0].odds[0] * (most - least).max(axis=-1)).sum()) < _ALIKE:
            break
    return found


def _answer(
    head: Any, state: Any, here: int, frozen: NDArray[np.float64], sharp: float, told: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The answer to the last frame, as far as memory is trusted and at the temperature of the network."""
    settings = head.settings
    with np.errstate(divide="ignore"):
        believed = _softmax(np.log(state.posteriors[0, here]) + told)
        _, agreed, squares = state.agreement[0]
        errors = (agreed + PRIOR_SUM) / np.sqrt(squares + PRIOR_SQUARES)
        trust = 1.0 if settings.continuity == 0 else float(np.clip(errors / settings.continuity - 1, 0, 1))
        mixed = np.log(trust * believed + (1 - trust) * frozen)
    found: NDArray[np.float64] = _softmax(mixed / sharp if sharp > 0 else mixed)
    return found
