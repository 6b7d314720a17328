"""Whether a gain on recorded streams is more than chance, by its standard error between parts of them.

The best of many settings is always a little better, by chance. So its gain is also looked at in parts of the streams,
and must be more than twice its standard error between these parts: a gain on one person and a loss on the next is none.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STREAMS, STRETCHES = 3, 10
"""Whole streams are compared if there are at least `STREAMS`, because stretches of one stream have much in common;
otherwise all streams together are cut into `STRETCHES` equal stretches."""

ERRORS = 2.0
"""A gain must be larger than this many standard errors: the best of some sixty settings often gains one by chance."""


class Gain(NamedTuple):
    """How much higher one head scores than another: the mean, and its standard error between stretches of frames.

    Examples
    --------
    >>> Gain(0.03, 0.01).is_above(errors=2.0), Gain(0.03, 0.02).is_above(errors=2.0)
    (True, False)
    """

    mean: float
    error: float

    def is_above(self, errors: float) -> bool:
        """Whether the mean is above this number of standard errors; a negative number allows for a loss by chance."""
        return self.mean > errors * self.error


def measure_gain(gained: NDArray[np.float64], n_stretches: int) -> Gain:
    """The gain of frames (T,) in time order, with the standard error between this number of stretches of them.

    Examples
    --------
    >>> measure_gain(np.array([0.0, 0.0, 1.0, 1.0]), 2)
    Gain(mean=0.5, error=0.5)
    """
    parts = [float(part.mean()) for part in np.array_split(gained, n_stretches) if len(part)]
    if len(parts) < 2:
        return Gain(float(gained.mean()) if len(gained) else 0.0, float("inf"))
    return Gain(float(gained.mean()), float(np.std(parts, ddof=1) / np.sqrt(len(parts))))


def is_clearly_better(
    right: Sequence[NDArray[Any]], at_rest: Sequence[NDArray[Any]], known: Sequence[NDArray[Any]]
) -> bool:
    """Whether the gain is above zero by more than `ERRORS` standard errors between parts of the streams.

    Parameters
    ----------
    right, at_rest : Sequence[NDArray[Any]]
        Whether each frame of each stream is answered correctly, (T,), with the settings and by the frozen network.
    known : Sequence[NDArray[Any]]
        Which frames count, (T,).

    Examples
    --------
    >>> everywhere, nowhere = np.ones(100, bool), np.zeros(100, bool)
    >>> is_clearly_better([everywhere, nowhere], [nowhere, everywhere], [everywhere, everywhere])
    False
    >>> is_clearly_better([everywhere, everywhere], [nowhere, everywhere], [everywhere, everywhere])
    True
    """
    gains, counts = [], []
    stretches = 1 if len(right) >= STREAMS else STRETCHES // len(right)
    for one, rest, told in zip(right, at_rest, known, strict=True):
        gained = np.asarray(one, np.float64) - np.asarray(rest, np.float64)
        for part in np.array_split(np.flatnonzero(told), stretches):
            if len(part):
                gains.append(gained[part].mean())
                counts.append(len(part))
    mean = np.average(gains, weights=counts)
    spread = np.average((np.array(gains) - mean) ** 2, weights=counts)
    return bool(mean > ERRORS * np.sqrt(spread / len(gains)))
