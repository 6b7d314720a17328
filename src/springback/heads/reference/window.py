"""Springs with a window in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback.heads.memories.window import WindowSprings
from springback.heads.reference.shown import Shown, distances_of


def follow(settings: WindowSprings, shown: Shown) -> NDArray[np.float64]:
    """Z = W x + b + pull sum_i f(t - t_i) ((1 - m) k(x, x_i) + m) Q_i;  k(x, y) = x.y or exp(tuning (x.y - 1))."""
    m = settings.constant
    apart = distances_of(shown.units) if shown.scale is None else np.full(len(shown.units), shown.scale.distance)
    remembered: list[tuple[float, NDArray[Any], NDArray[Any]]] = []
    answers = np.empty(shown.logits.shape)
    for t, x in enumerate(shown.inputs):
        remembered = [(left * np.exp(-shown.gaps[t] / settings.memory), one, past) for left, one, past in remembered]
        added = np.zeros(shown.logits.shape[1])
        for left, one, past in remembered:
            alike = one @ x if settings.tuning is None else np.exp(settings.tuning / apart[t] * (one @ x - 1))
            added += (settings.pull or 0) * left * ((1 - m) * alike + m) * past
        answers[t] = softmax(shown.logits[t] + shown.trust[t] * added)
        posterior = softmax(settings.kappa * (shown.logits[t] + added))
        remembered = [*remembered, (1.0, x, posterior)][-settings.window :]
    return answers
