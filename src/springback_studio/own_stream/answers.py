"""What the page is told about a stream: the answer to each frame, counts of answers, and what is remembered."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.heads.elastic_head import ElasticHead
from springback.heads.memories.observer import Observer
from springback.heads.memories.springs import SpringState
from springback.heads.settings import Settings

SHARES_MAX = 6
"""The largest number of classes that a frame's answer is sent for; the others have less."""

_LEAST = 0.005


class FrameAnswer(NamedTuple):
    """The answer to one frame.

    Parameters
    ----------
    posterior, frozen : NDArray[np.float64]
        With and without memory, (K,); classes that are not known yet have the probability 0.
    novelty : float | None
        Probability that the frame shows something new; None: not known.
    memory : NDArray[np.float64] | None
        How much of each class is remembered, 0 ... 1, (K,); None: not known.
    """

    posterior: NDArray[np.float64]
    frozen: NDArray[np.float64]
    novelty: float | None
    memory: NDArray[np.float64] | None


class AnswerCounts:
    """Counts frames, changes of mind, and correct answers where the truth is known.

    Examples
    --------
    >>> counts = AnswerCounts()
    >>> for truth, sure, unsure in ((0, 0.9, 0.9), (0, 0.8, 0.4), (0, 0.9, 0.8)):
    ...     told = FrameAnswer(np.array([sure, 1 - sure]), np.array([unsure, 1 - unsure]), None, None)
    ...     column = counts.add(told, truth)
    >>> counts.said()
    {'frames': 3, 'changes': [0, 2], 'labelled': 3, 'correct': [3, 2]}
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count from zero."""
        self.frames, self.labelled = 0, 0
        self._changes, self._correct = [0, 0], [0, 0]
        self._last: list[int | None] = [None, None]

    def add(self, told: FrameAnswer, truth: int | None = None) -> dict[str, Any]:
        """Count a frame: its column on the page."""
        self.frames += 1
        self.labelled += truth is not None
        for which, shares in enumerate((told.posterior, told.frozen)):
            answer = int(shares.argmax())
            self._changes[which] += self._last[which] not in (None, answer)
            self._correct[which] += truth is not None and answer == truth
            self._last[which] = answer
        novelty = told.novelty
        return {
            "frame": self.frames,
            "shares": [largest(told.posterior), largest(told.frozen)],
            "novelty": None if novelty is None or not np.isfinite(novelty) else round(float(novelty), 4),
            "truth": truth,
        }

    def said(self) -> dict[str, Any]:
        """The counts, for the page: each pair is with and without memory."""
        return {
            "frames": self.frames,
            "changes": list(self._changes),
            "labelled": self.labelled,
            "correct": list(self._correct),
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


def remembered(model: Any) -> NDArray[np.float64] | None:
    """The share of each class (K,) in what a model remembers, 0 ... 1; None if the model does not show it.

    For an `Observer`: the odds of the remembered frames times their answers, relative to a stream that has shown one
    class for long. For `Springs`: the length of each class's F, relative to the longest that such a stream can reach.

    Examples
    --------
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2))
    >>> remembered(head)
    array([0., 0.])
    >>> for _ in range(20):
    ...     answer = head.step([1.0, 0.0])
    >>> remembered(head)[0] > 0.9
    np.True_
    """
    if not isinstance(model, ElasticHead):
        return None
    settings, memory = model.settings, model.state_.memory
    if not isinstance(memory, SpringState):
        answers = memory.posteriors if isinstance(settings, Observer) else memory.strengths / (settings.pull or 1.0)
        found = (memory.odds[0] @ answers[0]) * (1 - math.exp(-1 / settings.memory))
    else:
        lengths = np.linalg.norm(memory.short_term[0].astype(np.float64), axis=1)
        found = lengths / max(longest_pull(settings), float(lengths.max()), 1e-12)
    return np.asarray(np.clip(found, 0, 1), np.float64)


def longest_pull(settings: Settings) -> float:
    """The length that F reaches if inputs of length one pull a class for long; 0 if it has no such bound."""
    if isinstance(settings, Observer) or not settings.unit_inputs:
        return 0.0
    return float(settings.pull or 0.0) / (1 - math.exp(-1 / settings.memory))
