"""The exact observer in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback.heads.memories.observer import Observer
from springback.heads.reference.shown import Shown, distances_of, spreads_of
from springback.heads.scale import SMALLEST_SPREAD


def follow(settings: Observer, shown: Shown) -> NDArray[np.float64]:
    """P_k ~ beta s_k(x) + sum_i f(t - t_i) exp(kappa (cos(x, m_i) - 1)) Q_i(k) (K s_k(x))^a."""
    classes = shown.logits.shape[1]
    remembered: list[tuple[float, NDArray[Any], NDArray[Any]]] = []
    answers = np.empty(shown.logits.shape)
    spreads, distances = spreads_of(shown.logits), distances_of(shown.units)
    for t, x in enumerate(shown.units):
        reach, apart = (spreads[t], distances[t]) if shown.scale is None else (shown.scale.spread, shown.scale.distance)
        sharp = settings.sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        frozen = softmax(sharp * shown.logits[t])
        kappa = settings.kappa / apart
        remembered = [(odds * np.exp(-shown.gaps[t] / settings.memory), key, past) for odds, key, past in remembered]
        terms = [settings.novelty_odds * frozen]
        terms += [
            odds * np.exp(kappa * (key @ x - 1)) * past * (classes * frozen) ** settings.evidence
            for odds, key, past in remembered
        ]
        posterior = sum(terms) / sum(term.sum() for term in terms)
        with np.errstate(divide="ignore"):
            mixed = np.log(shown.trust[t] * posterior + (1 - shown.trust[t]) * frozen)
        answers[t] = softmax(mixed / (sharp if sharp > 0 else 1.0))
        same = np.array([term.sum() for term in terms]) / sum(term.sum() for term in terms)
        expected = same[0] * x + sum((share * one[1] for share, one in zip(same[1:], remembered, strict=True)), 0 * x)
        key = (1 - settings.gain) * expected + settings.gain * x
        length = np.linalg.norm(key)
        remembered = [*remembered, (1.0, key / (length if length > 0 else 1), posterior)][-settings.depth :]
    return answers
