"""What a search makes large: accuracy, or the agreement with two smoothers, which needs no labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.heads.significance import ERRORS, STRETCHES, is_clearly_better, measure_gain
from springback.heads.smoothing import Smoother
from springback.heads.tuning_result import Compared, Head, HeldOut
from springback.streaming.row_scaling import unit_rows

BEST_VIEWS = Smoother()
"""Believes the best views of an object, and tells objects apart by the features. It is right where the frozen head is
sure and wrong of frames that look like nothing it was trained on, and misled where whole objects have no good view."""

VOTE = Smoother(sharpness=None, selection=0.0, best_view=0.3, reach=0)
"""Counts all frames of an object alike, each as 0.3 independent ones, with the probabilities of the network, and tells
objects apart by the logits. It is right where classes change and little else does, and where the network knows how sure
it is, and misled where the network is sure and wrong."""


class Accuracy:
    """The share of correct answers, where labels are known.

    Parameters
    ----------
    logits : Sequence[NDArray[Any]]
        Of the frozen head, (T, K) of each stream.
    labels : Sequence[NDArray[Any]]
        Correct classes (T,) of each stream, negative where unknown.

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
    """Agreement with two judges that read the recorded streams in both directions, and need no labels.

    Both pool the answers of the frozen head over the frames of each object (`Smoother`), but they believe different
    things: one tells objects apart by their features and believes the best views, and the other tells them apart by the
    logits and counts all views alike, with the probabilities that the network gives. Settings are scored on the first
    half of the frames, and compared on the second half.

    Parameters
    ----------
    logits, directions : Sequence[NDArray[Any]]
        Of the frozen head, (T, K), and centred features of unit length, (T, n), of each stream.
    weight : NDArray[Any]
        Of the frozen head, (K, n).

    Examples
    --------
    >>> judge = Agreement([10 * np.eye(2)[[0, 0, 0, 1] * 2]], [np.eye(2)[[0, 0, 0, 1] * 2]], np.eye(2))
    >>> judge.score(np.array([0, 0, 0, 1] * 2)) > judge.score(np.array([0, 0, 0, 0] * 2))
    True
    """

    def __init__(
        self, logits: Sequence[NDArray[Any]], directions: Sequence[NDArray[Any]], weight: NDArray[Any]
    ) -> None:
        outputs = [np.asarray(one, np.float64) for one in logits]
        mean = np.concatenate(outputs).mean(axis=0)
        seen = [unit_rows(one - mean) for one in outputs]
        best_views = BEST_VIEWS.pool(logits, directions, weight)
        vote = VOTE.pool(logits, seen, np.eye(len(weight)))
        self._pooled = np.stack([np.concatenate(best_views), np.concatenate(vote)])
        self._first = self._pooled.shape[1] // 2

    def score(self, classes: NDArray[Any]) -> float:
        """Of these answers to all frames of all streams, (T,), on the first half of the frames."""
        return float(self._agreed(classes)[:, : self._first].mean()) if self._first else 0.0

    def compare(self, best: NDArray[Any], at_rest: NDArray[Any], untuned: NDArray[Any] | None) -> HeldOut:
        """Which of three heads to use, by their answers (T,) to all frames.

        The untuned default was chosen on other streams, so all frames may judge it: it replaces the frozen head if its
        gain is more than one standard error on average, and neither judge finds a loss of more than one. The best
        settings were chosen on the first half, so the second half alone judges them: they replace what is used
        otherwise if their gain is more than two standard errors on average, and more than one by each judge.

        Parameters
        ----------
        best, at_rest : NDArray[Any]
            Answers with the settings that scored highest, and of the frozen head.
        untuned : NDArray[Any] | None
            Answers of the untuned default; None: it is not to be used.
        """
        frozen = self._agreed(at_rest)
        later = slice(self._first, None)
        default, before = None, frozen
        if untuned is not None:
            agreed = self._agreed(untuned)
            default = _compared(agreed, frozen)._replace(score=float(agreed[:, later].mean()))
            before = agreed if _is_above(default, errors=1.0, each=-1.0) else frozen
        searched = _compared(self._agreed(best)[:, later], before[:, later])
        reference: Head = "frozen" if before is frozen else "default"
        return HeldOut(
            choice="searched" if _is_above(searched, errors=ERRORS, each=1.0) else reference,
            n_frames=frozen.shape[1] - self._first,
            n_frames_in_all=frozen.shape[1],
            n_stretches=min(STRETCHES, frozen.shape[1] - self._first),
            frozen=float(frozen[:, later].mean()),
            default=default,
            searched=searched,
            reference=reference,
        )

    def _agreed(self, classes: NDArray[Any]) -> NDArray[np.float64]:
        """The probability that each judge gives to each answer, (2, T)."""
        return np.asarray(self._pooled[:, np.arange(len(classes)), classes.astype(np.int64)], np.float64)


def _compared(one: NDArray[np.float64], other: NDArray[np.float64]) -> Compared:
    gained = one - other
    by_judge = [measure_gain(gained[judge], STRETCHES) for judge in range(2)]
    return Compared(float(one.mean()), measure_gain(gained.mean(axis=0), STRETCHES), *by_judge)


def _is_above(one: Compared, *, errors: float, each: float) -> bool:
    """Whether the gain is above these numbers of standard errors: on average, and by each judge alone."""
    return one.gain.is_above(errors) and one.best_views.is_above(each) and one.vote.is_above(each)
