"""Whether settings that were best on validation streams are clearly better than the frozen network.

The best of many settings is always a little better, by chance. So its gain is also looked at in parts of the streams,
and must be more than twice its standard error between these parts: a gain on one person and a loss on the next is none.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

STREAMS, STRETCHES = 3, 10
"""Whole streams are compared if there are at least `STREAMS`, because stretches of one stream have much in common;
otherwise all streams together are cut into `STRETCHES` equal stretches."""

ERRORS = 2.0
"""A gain must be larger than this many standard errors: the best of some sixty settings often gains one by chance."""


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
