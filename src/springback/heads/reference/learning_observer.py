"""The observer that learns its deployment, in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from springback.heads import earning
from springback.heads.continuity import FORGETTING
from springback.heads.earning import NEAR, RECENT, SMALLEST_LESSON
from springback.heads.memories.learning_observer import LearningObserver
from springback.heads.reference import observer
from springback.heads.reference.shown import Shown
from springback.heads.scale import SMALLEST_SPREAD


def follow(settings: LearningObserver, shown: Shown) -> NDArray[np.float64]:
    """The observer of the logits z_k + g (c_k (m_k - M).(x - M) - 1/2 c_k^2 |m_k - M|^2), g as far as it is earned."""
    return observer.follow(settings, shown, _SlowMeans(settings, shown))


class _SlowMeans(observer.Nothing):
    """The means of the classes, and what they and memory have earned."""

    def __init__(self, settings: LearningObserver, shown: Shown) -> None:
        self._settings, self._shown = settings, shown
        self._frozen = shown.logits.argmax(axis=1)
        self._means, self._visits = np.zeros(shown.weight.shape), np.zeros(len(shown.weight))
        self._recent = np.zeros((3, 2, len(shown.weight)))
        self._excess, self._earned = np.zeros(len(shown.weight)), np.zeros(4)
        self._last, self._near = np.zeros(len(shown.weight)), 0.0
        self._count = self._calm = 0.0

    def _speak(self, of: int, usual: NDArray[Any]) -> NDArray[np.float64]:
        """What the answers of the last frames say for each class, beyond what is usual."""
        return np.asarray(self._recent[of, 1] - self._recent[0, 1].sum() * usual)

    def left(self, gap: float) -> float:
        """What a gap leaves of visits and lessons."""
        return float(np.exp(-gap / (self._settings.memory * self._settings.slowness)))

    def read(self, t: int, apart: float, reach: float) -> NDArray[np.float64]:
        """The class means' say; bets on it, and on memory."""
        settings, x, gap, c = self._settings, self._shown.units[t], self._shown.gaps[t], self._frozen[t]
        frames = self._settings.frames_of(gap)
        self._visits *= self.left(gap)
        self._recent *= RECENT**frames
        self._last *= RECENT**frames
        self._earned *= FORGETTING**frames
        self._near *= NEAR**frames
        self._calm *= self.left(gap)
        sure = self._visits / (settings.prior_frames + self._visits)
        middle = sure @ self._means / (sure.sum() if sure.sum() > 0 else 1)
        apart_from = self._means - middle
        sharp = settings.sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        self._at_rest = softmax(sharp * self._shown.logits[t])
        said = sure * (apart_from @ (x - middle)) - sure**2 * (apart_from**2).sum(axis=1) / 2
        added = np.asarray(settings.strength * said / apart)
        weight = expit(earning.START_SLOW + earning.RATE_SLOW * self._earned[0]) if settings.continuity > 0 else 1.0
        usual = self._shown.frequent[t]
        before, other = self._speak(0, usual), np.argmax(self._shown.logits[t] / max(reach, SMALLEST_SPREAD) + added)
        allowed = earning.ALLOWED * (1 - usual[c]) - float(other != c)
        slow = before[other] - before[c] + earning.CONTRADICTION * allowed
        self._earned += [slow, self._speak(1, self._excess)[c], self._recent[1, 1, c], self._recent[2, 1, c]]
        self._near += self._last[c] - self._last @ usual
        far = np.clip(earning.RATE_FAST * self._earned[1], -earning.MOST_FAST, earning.MOST_FAST)
        self.trust = (
            expit(earning.START_FAST + far + earning.RATE_NEAR * self._near) if settings.continuity > 0 else 1.0
        )
        return np.asarray(weight * added)

    def learn(self, t: int, posterior: NDArray[Any], answer: NDArray[Any]) -> float:
        """The root of the probability that answer and frozen answer are the same."""
        c, frames = self._frozen[t], self._settings.frames_of(self._shown.gaps[t])
        trust = self._shown.trust[t] * self.trust
        self._count = FORGETTING**frames * self._count + 1
        differ = np.eye(len(posterior))[posterior.argmax()] - np.eye(len(posterior))[c]
        self._excess += (differ - self._excess) / self._count
        self._recent[:, 0] += (1 - RECENT) * np.array([np.eye(len(posterior))[c], differ, np.abs(differ)])
        self._recent[:, 1] += (1 - RECENT) * self._recent[:, 0]
        self._last = posterior - answer
        both = self._at_rest @ (trust * posterior + (1 - trust) * answer)
        return float(np.sqrt(both))

    def calm(self, t: int, answer: NDArray[Any]) -> NDArray[np.float64]:
        """The answer at the temperature that the record of memory allows; moves the temperature."""
        if self._settings.continuity == 0:
            return answer
        with np.errstate(divide="ignore"):
            found = softmax(np.log(answer) * np.exp(-self._calm))
        a, c = answer.argmax(), self._frozen[t]
        sure = softmax(self._shown.logits[t])[c]
        record = np.clip(2 * self._earned[2] / (self._earned[3] + earning.ENOUGH), 0, 1)
        wanted = record * answer[a] + (1 - record) * (sure if a == c else 1 - sure)
        moved = self._calm + earning.RATE_CALM / (self._count + earning.FRAMES_CALM) * (found[a] - wanted)
        self._calm = float(np.clip(moved, earning.MOST_SHARP, earning.MOST_CALM))
        return np.asarray(found)

    def consolidate(self, lesson: float, key: NDArray[Any], posterior: NDArray[Any]) -> None:
        """The frame moves the means of the classes that it may have shown."""
        taught = lesson * np.maximum(posterior - SMALLEST_LESSON, 0)
        self._visits += taught
        share = taught / np.where(self._visits > 0, self._visits, 1)
        self._means += share[:, None] * (key - self._means)
