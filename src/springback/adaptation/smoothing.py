"""Exponential smoothing of a network's outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import softmax as _softmax

from springback import check


def softmax(logits: NDArray[Any], sharpness: float = 1.0) -> NDArray[np.float64]:
    """Probabilities (T, K) from logits; `sharpness` multiplies the logits first.

    Examples
    --------
    >>> softmax(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """
    check.real("sharpness", sharpness, above=0)
    values = check.array("logits", np.asarray(logits, np.float64), shape=(None, None), dtype=np.float64)
    return np.asarray(_softmax(sharpness * values, axis=1))


def smooth(outputs: NDArray[Any], memory: float) -> NDArray[np.float64]:
    """A moving average of the outputs (T, K), logits or probabilities, that forgets over `memory` frames.

        s_t = d s_(t-1) + (1 - d) y_t,   d = exp(-1 / memory);   memory = 0 changes nothing

    Examples
    --------
    >>> smooth(np.array([[1.0], [0.0]]), memory=1.0).round(3)
    array([[0.632],
           [0.233]])
    """
    check.real("memory", memory, low=0)
    decay = np.exp(-1 / memory) if memory else 0.0
    values = check.array("outputs", np.asarray(outputs, np.float64), shape=(None, None), dtype=np.float64)
    return np.asarray(lfilter([1 - decay], [1, -decay], values, axis=0))
