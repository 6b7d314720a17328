"""Answers that may wait: what the frames after it tell about a frame, by the same model that an `Observer` follows.

After frame t, the observer believes Q_t. If its class were k, the later frames would have the probability

    beta_t(k) = product over s > t of Z_s(k),
    Z_s(k) = sum_j (novelty_odds s_j + sum_i f_i l_i Q_i(j) (K s_j)^evidence)

with the likeness l_i, and with every later Q_i as the observer finds it then: Z_s(k) is what its posterior of frame s
is divided by. So the answer with hindsight is Q_t(k) beta_t(k), normalised. If the class of frame t is k, that tells
about the frames before it as well: frame i shows the same object with the probability

    r_i(k) = f_i l_i Q_i(k) (K s_k)^evidence / (what Q_t(k) is before it is normalised),

so Q_t is [class k] in Z_s(k), and Q_i is (1 - r_i(k)) Q_i + r_i(k) [class k]. What frames look like is remembered as
the observer believes it, whatever the class.

With one frame to wait for, this is exact for what the observer believes of the frames before t, each by itself; with a
memory of one frame, it is the exact backward message of a hidden Markov model, for any wait. Otherwise it is an
approximation of the same kind as the observer's own answers: exact posteriors take all classes of all remembered frames
together. In the tests, which enumerate these, it is as close to them as the answers without a wait are to theirs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax as _softmax

from springback.heads.continuity import PRIOR_SQUARES, PRIOR_SUM
from springback.heads.memories.observer import Observer
from springback.heads.scale import SMALLEST_DISTANCE, SMALLEST_SPREAD
from springback.streaming.row_scaling import unit_rows

_BYTES_AT_ONCE = 2**24
_FRAMES_AT_ONCE = 8
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
    ahead, looks = type(state)._make(part.copy() for part in state), list[_Look]()
    for t in range(len(answers)):
        answers[t] = head.follow_streams(state, rows[t : t + 1], gaps[t : t + 1, None]).posterior[0]
        while len(looks) < 1 + lag and t + len(looks) < len(rows):
            at = t + len(looks)
            looks.append(_look(head, ahead, rows[at], float(gaps[at])))
        this = looks.pop(0)
        if looks:
            told = _message(head, state.posteriors[0].astype(np.float64), this, looks)
            answers[t] = _answer(head, state, this, told)
    return answers


class _Look(NamedTuple):
    """What an observer finds in a frame: D remembered frames, K classes."""

    slot: int
    near: NDArray[np.float64]
    """The odds that it shows the object of each remembered frame, with the likeness, (D,)."""
    odds: NDArray[np.float64]
    """Without the likeness, and with the frame itself, (D,)."""
    frozen: NDArray[np.float64]
    """What the frozen head answers, as the observer reads it, (K,)."""
    sharp: float
    log_total: float
    """The logarithm of what the posterior was divided by."""
    believed: NDArray[np.float64]
    """The posterior that is remembered, (K,)."""

    def evidence(self, settings: Observer) -> NDArray[np.float64]:
        """What a frame of the same object tells about its class, (K,)."""
        return np.where(self.frozen > 0, (len(self.frozen) * self.frozen) ** settings.evidence, 0.0)


def _look(head: Any, state: Any, row: NDArray[np.float32], gap: float) -> _Look:
    """What the observer finds in the next frame; moves the state over it."""
    settings, slot = head.settings, int(state.position[0, 0])
    odds, replaced = state.odds[0] * np.exp(-gap / settings.memory), state.keys[0, slot].copy()
    novelty = float(head.follow_streams(state, row[None], np.array([[gap]])).novelty[0])
    unit = unit_rows((row - head._centring)[None])[0]
    alike = (state.keys[0] @ unit).astype(np.float64)
    alike[slot] = replaced @ unit
    measured = max(1 - float(np.square(state.direction[0]).sum()), SMALLEST_DISTANCE)
    near = odds * np.exp(settings.kappa / (measured if head.scale is None else head.scale.distance) * (alike - 1))
    spread = float(state.spread[0, 0]) if head.scale is None else head.scale.spread
    sharp = settings.sharpness / spread if spread > SMALLEST_SPREAD else 0.0
    frozen = _softmax(sharp * (head.weight.astype(np.float64) @ row + head.bias))
    total = float(np.log(settings.novelty_odds / novelty))
    return _Look(slot, near, state.odds[0].copy(), frozen, sharp, total, state.posteriors[0, slot].copy())


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


def _message(head: Any, remembered: NDArray[np.float64], this: _Look, later: Sequence[_Look]) -> NDArray[np.float64]:
    """The logarithm of beta (K,), up to a constant; `remembered` are the posteriors (D, K) after this frame."""
    settings, n_classes = head.settings, head.n_classes
    shares = this.near[:, None] * remembered * this.evidence(settings)
    whole = this.believed * np.exp(this.log_total)
    same = np.divide(shares, whole, out=np.zeros_like(shares), where=whole > 0).clip(0, 1)
    same[this.slot] = 1.0
    found, at_once = np.zeros(n_classes), max(1, _BYTES_AT_ONCE // remembered.nbytes)
    for start in range(0, n_classes, at_once):
        group = np.arange(start, min(start + at_once, n_classes))
        known, sure, real = same.T[group, :, None], np.eye(n_classes)[group, None], remembered.copy()
        believed = (1 - known) * remembered + known * sure
        for number, one in enumerate(later, 1):
            joint = settings.novelty_odds * one.frozen + (one.near @ believed) * one.evidence(settings)
            total = joint.sum(axis=1)
            found[group] += np.log(total) - one.log_total
            believed[:, one.slot], real[one.slot] = joint / total[:, None], one.believed
            if number % _FRAMES_AT_ONCE == 0 and one.odds @ np.abs(believed - real).max(axis=(0, 2)) < _ALIKE:
                break
    return found


def _answer(head: Any, state: Any, this: _Look, told: NDArray[np.float64]) -> NDArray[np.float64]:
    """The answer to the last frame, as far as memory is trusted and at the temperature of the network."""
    settings = head.settings
    with np.errstate(divide="ignore"):
        believed = _softmax(np.log(this.believed) + told)
        _, agreed, squares = state.agreement[0]
        errors = (agreed + PRIOR_SUM) / np.sqrt(squares + PRIOR_SQUARES)
        trust = 1.0 if settings.continuity == 0 else float(np.clip(errors / settings.continuity - 1, 0, 1))
        mixed = np.log(trust * believed + (1 - trust) * this.frozen)
    found: NDArray[np.float64] = _softmax(mixed / this.sharp if this.sharp > 0 else mixed)
    return found
