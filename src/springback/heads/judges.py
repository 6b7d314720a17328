"""Who judges settings: labels, or an observer that has hindsight and needs none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.adaptation.worth import is_clearly_better
from springback.heads.hindsight import Hindsight

WORTH_IT = 0.05
"""Without labels, a head must make up this share of what the frozen one lacks to full agreement, or it is not used: the
judge is not more precise than that."""

FINALISTS = 6
"""How many of the best settings are compared with each other if there are no labels."""


class Accuracy:
    """The share of right answers, where labels are known.

    Parameters
    ----------
    logits : Sequence[NDArray[Any]]
        Of the frozen head, (T, K) of each stream.
    labels : Sequence[NDArray[Any]]
        Right classes (T,) of each stream, negative where unknown.

    Examples
    --------
    >>> judge = Accuracy([np.zeros((3, 2))], [np.array([0, 1, -1])])
    >>> judge.score(np.array([0, 0, 0]))
    0.5
    """

    def __init__(self, logits: Sequence[NDArray[Any]], labels: Sequence[NDArray[Any]]) -> None:
        check.require(len(labels) == len(logits), "labels", "hold one array for each stream", len(labels))
        known = []
        for one, wanted in zip(logits, labels, strict=True):
            given = np.asarray(wanted)
            check.require(given.shape == (len(one),), "labels", f"have shape ({len(one)},), one per frame", given.shape)
            check.require(given.dtype.kind in "iu", "labels", "be whole numbers, negative where unknown", given.dtype)
            most = int(given.max(initial=-1))
            check.require(most < one.shape[1], "labels", f"be below {one.shape[1]}, the classes of the head", most)
            known.append(given.astype(np.int64))
        self._labels = np.concatenate(known)
        self._ends = np.cumsum([len(one) for one in known])[:-1]
        check.require(bool((self._labels >= 0).any()), "labels", "be known for some frames", "none")

    def score(self, classes: NDArray[Any]) -> float:
        """Of these answers to all frames of all streams, (T,)."""
        return float((classes == self._labels)[self._labels >= 0].mean())

    def choose(
        self, scores: Sequence[float], answers: Sequence[NDArray[Any]], at_rest: NDArray[Any], *, n_groups: int
    ) -> int | None:
        """The number of the best settings, from their scores and answers; None: the frozen head is as good.

        The best of each group (as many settings of each kind of memory, one after the other) only counts if it is
        clearly better than the frozen head.
        """
        groups = np.array_split(np.arange(len(scores)), n_groups)
        winners = [max(group, key=lambda number: scores[number]) for group in groups]
        worth = [number for number in winners if self._is_worth(answers[number], at_rest)]
        return int(max(worth, key=lambda number: scores[number])) if worth else None

    def _is_worth(self, classes: NDArray[Any], at_rest: NDArray[Any]) -> bool:
        right, before = (np.split(one == self._labels, self._ends) for one in (classes, at_rest))
        return is_clearly_better(right, before, np.split(self._labels >= 0, self._ends))


class Agreement:
    """Agreement with an observer that has hindsight, the mean of that over frames and of that over classes.

    Parameters
    ----------
    logits, directions : Sequence[NDArray[Any]]
        Of the frozen head, (T, K), and centred features of unit length, (T, n), of each stream.
    weight : NDArray[Any]
        Of the frozen head, (K, n).

    Examples
    --------
    >>> judge = Agreement([10 * np.eye(2)[[0, 0, 0, 1]]], [np.eye(2)[[0, 0, 0, 1]]], np.eye(2))
    >>> judge.score(np.array([0, 0, 0, 1])) > judge.score(np.array([0, 0, 0, 0]))
    True
    """

    def __init__(
        self, logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]], weight: NDArray[Any]
    ) -> None:
        self._pooled = np.concatenate(Hindsight().pool(logits, directions, weight))
        self._answer = self._pooled.argmax(axis=1)
        self._counts = np.bincount(self._answer, minlength=self._pooled.shape[1])

    def score(self, classes: NDArray[Any]) -> float:
        """Of these answers to all frames of all streams, (T,)."""
        over_frames = float(np.take_along_axis(self._pooled, classes[:, None].astype(np.int64), axis=1).mean())
        agreed = np.bincount(self._answer, weights=classes == self._answer, minlength=len(self._counts))
        there = self._counts > 0
        return (over_frames + float((agreed[there] / self._counts[there]).mean())) / 2

    def choose(
        self, scores: Sequence[float], answers: Sequence[NDArray[Any]], at_rest: NDArray[Any], *, n_groups: int
    ) -> int | None:
        """The number of the settings, among those that score best, that agree most with the others of these.

        None: they hardly score higher than the frozen head. The groups of `Accuracy.choose` do not matter.
        """
        del n_groups
        finalists = np.argsort(-np.asarray(scores), kind="stable")[:FINALISTS]
        agreed = [sum(float((answers[one] == answers[other]).mean()) for other in finalists) for one in finalists]
        number, before = int(finalists[int(np.argmax(agreed))]), self.score(at_rest)
        return number if scores[number] > before + WORTH_IT * (1 - before) else None
