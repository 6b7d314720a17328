"""Answers that may wait: what the frames after it tell about a frame, by the same model that an `Observer` follows.

After frame t, the observer believes Q_t. If its class were k, the later frames would have the probability

    beta_t(k) = product over s > t of Z_s(k),
    Z_s(k) = sum_j (novelty_odds s_j + sum_i f_i l_i Q_i(j) (K s_j)^evidence)

with Q_t = [class k], with the likeness l_i, and with every later Q_i as the observer finds it then: Z_s(k) is what its
posterior of frame s is divided by. So the answer with hindsight is Q_t(k) beta_t(k), normalised. This is the backward
message of the model in which each frame takes its class from the frame that it goes back to, as that frame was believed
to be when it was seen.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax as _softmax

from springback.heads.continuity import PRIOR_SQUARES, PRIOR_SUM
from springback.heads.memories.observer import Observer
from springback.heads.scale import SMALLEST_SPREAD

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
        answers[t] = head.follow_streams(state, rows[t : t + 1], gaps[t : t + 1, None]).posterior[0]
        later = slice(t + 1, t + 1 + lag)
        if len(rows[later]):
            told = _message(head, state, here, rows[later], gaps[later])
            answers[t] = _answer(head, state, here, rows[t], told)
    return answers


class Behind:
    """Frames of a live stream whose answers still wait, and the state before the first of them."""

    def __init__(self, state: Any, lag: int) -> None:
        self.state, self.lag = state, lag
        self.ahead: Any = None
        self.rows: list[NDArray[np.float32]] = []
        self.gaps: list[float] = []

    def answer(self, head: Any) -> NDArray[np.float64]:
        """Class probabilities (K,) of the first frame given those after it; it waits no longer."""
        found = answers_with_hindsight(head, self.state, np.stack(self.rows), np.array(self.gaps), self.lag, most=1)[0]
        del self.rows[0], self.gaps[0]
        return np.asarray(found)


def _message(
    head: Any, state: Any, here: int, rows: NDArray[np.float32], gaps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The logarithm of beta (K,), up to a constant: each class in a copy of the state that is sure of it."""
    n_classes = head.n_classes
    at_once = max(1, _BYTES_OF_COPIES // sum(part.nbytes for part in state))
    groups = [np.arange(n_classes)[start : start + at_once] for start in range(0, n_classes, at_once)]
    copies = [type(state)._make(np.repeat(part, len(group), axis=0) for part in state) for group in groups]
    for group, copy in zip(groups, copies, strict=True):
        copy.posteriors[:, here] = np.eye(n_classes)[group]
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
    head: Any, state: Any, here: int, row: NDArray[np.float32], told: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The answer to the last frame, as far as memory is trusted and at the temperature of the network."""
    settings = head.settings
    spread = float(state.spread[0, 0]) if head.scale is None else head.scale.spread
    sharp = settings.sharpness / spread if spread > SMALLEST_SPREAD else 0.0
    frozen = _softmax(sharp * (head.weight.astype(np.float64) @ row + head.bias))
    with np.errstate(divide="ignore"):
        believed = _softmax(np.log(state.posteriors[0, here]) + told)
        _, agreed, squares = state.agreement[0]
        errors = (agreed + PRIOR_SUM) / np.sqrt(squares + PRIOR_SQUARES)
        trust = 1.0 if settings.continuity == 0 else float(np.clip(errors / settings.continuity - 1, 0, 1))
        mixed = np.log(trust * believed + (1 - trust) * frozen)
    found: NDArray[np.float64] = _softmax(mixed / sharp if sharp > 0 else mixed)
    return found
