"""Centroids in plain NumPy."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from springback.heads.memories.centroids import CentroidSprings
from springback.heads.reference.shown import Shown


def follow(settings: CentroidSprings, shown: Shown) -> NDArray[np.float64]:
    """G = W + F;  z = kappa cos(x, G) + ln P;  F <- F + pull Q x."""
    pulled = np.zeros(shown.weight.shape)
    answers = np.empty((len(shown.units), len(shown.weight)))
    for t, x in enumerate(shown.units):
        pulled *= np.exp(-shown.gaps[t] / settings.memory)
        efficacy = shown.weight + pulled
        lengths = np.linalg.norm(efficacy, axis=1)
        cosines = efficacy @ x / np.where(lengths > 0, lengths, 1)
        answers[t] = softmax(settings.kappa * cosines + log_softmax(shown.bias))
        pulled += (settings.pull or 0) * np.outer(answers[t], x)
    return answers
