"""What the page is told about a stream: the answers of each frame, and how often each model changed its mind."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARES_MAX = 6
"""The largest number of classes that a frame's answer is sent for; the others have less."""

_LEAST = 0.005


class Told(NamedTuple):
    """The answer to one frame.

    Parameters
    ----------
    posterior, at_rest : NDArray[np.float64]
        With and without memory, (K,); classes that are not known yet have the probability 0.
    novelty : float | None
        Probability that the frame shows something new; None: not known.
    memory : NDArray[np.float64] | None
        How much of each class is remembered, 0 ... 1, (K,); None: not known.
    """

    posterior: NDArray[np.float64]
    at_rest: NDArray[np.float64]
    novelty: float | None
    memory: NDArray[np.float64] | None


class Account:
    """Counts frames, changes of mind, and right answers where the truth is known.

    Examples
    --------
    >>> account = Account()
    >>> for truth, sure, unsure in ((0, 0.9, 0.9), (0, 0.8, 0.4), (0, 0.9, 0.8)):
    ...     told = Told(np.array([sure, 1 - sure]), np.array([unsure, 1 - unsure]), None, None)
    ...     column = account.add(told, truth)
    >>> account.said()
    {'frames': 3, 'changes': [0, 2], 'labelled': 3, 'right': [3, 2]}
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count from zero."""
        self.frames, self.labelled = 0, 0
        self._changes, self._right = [0, 0], [0, 0]
        self._last: list[int | None] = [None, None]

    def add(self, told: Told, truth: int | None = None) -> dict[str, Any]:
        """Count a frame: its column on the page."""
        self.frames += 1
        self.labelled += truth is not None
        for which, shares in enumerate((told.posterior, told.at_rest)):
            answer = int(shares.argmax())
            self._changes[which] += self._last[which] not in (None, answer)
            self._right[which] += truth is not None and answer == truth
            self._last[which] = answer
        novelty = told.novelty
        return {
            "frame": self.frames,
            "shares": [largest(told.posterior), largest(told.at_rest)],
            "novelty": None if novelty is None or not np.isfinite(novelty) else round(float(novelty), 4),
            "truth": truth,
        }

    def said(self) -> dict[str, Any]:
        """The counts, for the page: each pair is with and without memory."""
        return {
            "frames": self.frames,
            "changes": list(self._changes),
            "labelled": self.labelled,
            "right": list(self._right),
        }


def largest(shares: NDArray[np.float64]) -> list[list[float]]:
    """The largest shares as [class, share], the largest first; of equal ones, the first class comes first.

    Examples
    --------
    >>> largest(np.array([0.1, 0.0, 0.9]))
    [[2, 0.9], [0, 0.1]]
    """
    order = np.argsort(-shares, kind="stable")[:SHARES_MAX]
    return [[int(one), round(float(shares[one]), 4)] for one in order if shares[one] >= _LEAST]
