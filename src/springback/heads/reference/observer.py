"""The exact observer in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback.heads.memories.observer import Observer
from springback.heads.reference.shown import Shown, distances_of, spreads_of
from springback.heads.scale import SMALLEST_SPREAD


class Nothing:
    """What an observer learns besides: nothing. A learning observer has its own."""

    trust = 1.0
    """How far memory counts besides the gate."""

    def left(self, gap: float) -> float:  # noqa: ARG002
        """What a gap leaves of what is to be taught."""
        return 1.0

    def read(self, t: int, apart: float, reach: float) -> NDArray[np.float64] | float:  # noqa: ARG002
        """What is added to the logits, in spreads of them."""
        return 0.0

    def learn(self, t: int, posterior: NDArray[Any], answer: NDArray[Any]) -> float:  # noqa: ARG002
        """How much this frame is to teach when it leaves the window."""
        return 0.0

    def calm(self, t: int, answer: NDArray[Any]) -> NDArray[np.float64]:  # noqa: ARG002
        """The answer at its temperature."""
        return answer

    def consolidate(self, lesson: float, key: NDArray[Any], posterior: NDArray[Any]) -> None:
        """A frame leaves the window."""


def follow(settings: Observer, shown: Shown, slow: Nothing | None = None) -> NDArray[np.float64]:
    """P_k ~ beta s_k(x) + sum_i f(t - t_i) exp(kappa (cos(x, m_i) - 1)) Q_i(k) (K s_k(x))^a."""
    slow = slow or Nothing()
    classes = shown.logits.shape[1]
    remembered: list[tuple[float, NDArray[Any], NDArray[Any], float]] = []
    answers = np.empty(shown.logits.shape)
    spreads, distances = spreads_of(shown.logits), distances_of(shown.units)
    for t, x in enumerate(shown.units):
        reach, apart = (spreads[t], distances[t]) if shown.scale is None else (shown.scale.spread, shown.scale.distance)
        sharp = settings.sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        frozen = softmax(sharp * shown.logits[t] + settings.sharpness * slow.read(t, apart, reach))
        kappa = settings.kappa / apart
        faded = np.exp(-shown.gaps[t] / settings.memory)
        left = slow.left(shown.gaps[t])
        remembered = [(odds * faded, key, past, lesson * left) for odds, key, past, lesson in remembered]
        terms = [settings.novelty_odds * frozen]
        terms += [
            odds * np.exp(kappa * (key @ x - 1)) * past * (classes * frozen) ** settings.evidence
            for odds, key, past, _ in remembered
        ]
        posterior = sum(terms) / sum(term.sum() for term in terms)
        same = np.array([term.sum() for term in terms]) / sum(term.sum() for term in terms)
        lesson = slow.learn(t, posterior, frozen)
        trust = shown.trust[t] * slow.trust
        with np.errstate(divide="ignore"):
            mixed = np.log(trust * posterior + (1 - trust) * frozen)
        answers[t] = slow.calm(t, softmax(mixed / (sharp if sharp > 0 else 1.0)))
        expected = same[0] * x + sum((share * one[1] for share, one in zip(same[1:], remembered, strict=True)), 0 * x)
        key = (1 - settings.gain) * expected + settings.gain * x
        length = np.linalg.norm(key)
        remembered.append((1.0, key / (length if length > 0 else 1), posterior, lesson))
        if len(remembered) > settings.depth:
            _, key, posterior, lesson = remembered.pop(0)
            slow.consolidate(lesson, key, posterior)
    return answers
