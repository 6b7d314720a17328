"""Springs in plain NumPy."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from springback.heads.memories.springs import Springs
from springback.heads.reference.shown import Shown


def follow(settings: Springs, shown: Shown) -> NDArray[np.float64]:
    """F <- F exp(-gap / memory);  z = W x + b + F x';  F <- F + pull Q x',  x' = [sqrt(1 - m) x, sqrt(m)]."""
    m = settings.constant
    inputs = np.hstack([np.sqrt(1 - m) * shown.inputs, np.full((len(shown.inputs), 1), np.sqrt(m))])
    pulled = np.zeros((shown.logits.shape[1], inputs.shape[1]))
    answers = np.empty(shown.logits.shape)
    for t, x in enumerate(inputs):
        pulled *= np.exp(-shown.gaps[t] / settings.memory)
        added = pulled @ x
        answers[t] = softmax(shown.logits[t] + shown.trust[t] * added)
        pulled += (settings.pull or 0) * np.outer(softmax(settings.kappa * (shown.logits[t] + added)), x)
    return answers
