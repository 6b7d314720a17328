"""How right a model's answers are, how calm, how soon, and how well it knows; for any number of classes.

Accuracies are fractions, 0 ... 1. They become percent only where they are shown to a person.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.streaming.readout import DIGITS, Classes, Labels, class_indices
from springback.streaming.records import NOISE_LABEL, Video


def accuracy(predicted: NDArray[Any], labels: NDArray[Any]) -> float:
    """Share of correct answers; NaN if there are no labels.

    Examples
    --------
    >>> accuracy(np.array(["cat", "dog", "dog", ""]), np.array(["cat", "dog", "cat", "dog"]))
    0.5
    """
    check.require(len(predicted) == len(labels), "predicted", f"be {len(labels)}, one for each label", len(predicted))
    if not len(labels):
        return float("nan")
    kinds = np.asarray(predicted).dtype, np.asarray(labels).dtype
    comparable = (kinds[0].kind == "U") == (kinds[1].kind == "U")
    check.require(comparable, "predicted", f"be of the same kind as the labels ({kinds[1]})", str(kinds[0]))
    return float(np.mean(predicted == labels))


def calibration_error(probabilities: Any, labels: Any, *, n_bins: int = 15) -> float:
    """How far the probability of an answer is from how often it is correct, on average; NaN if there are no labels.

    The answers are put into `n_bins` bins of equal width by their probability (the expected calibration error).

    Parameters
    ----------
    probabilities : Any
        Of each class, (T, K).
    labels : Any
        The number of the correct class of each frame, (T,); a frame with -1 is left out.

    Examples
    --------
    >>> round(calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    """
    posterior, right = np.asarray(probabilities, np.float64), np.asarray(labels)
    check.array("probabilities", posterior, shape=(len(right), None), dtype=np.float64)
    check.require(right.dtype.kind in "iu", "labels", "be numbers of classes", str(right.dtype))
    check.integer("n_bins", n_bins, low=1)
    known = right >= 0
    sure = posterior[known].max(axis=1, initial=0)
    hits = posterior[known].argmax(axis=1) == right[known]
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    away = np.bincount(bins, weights=hits - sure, minlength=n_bins)
    return float(np.abs(away).sum() / len(sure)) if len(sure) else float("nan")


def _by_stream(answers: Any, keys: Any) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.bool_]]:
    """Answers with those of one stream side by side, their places before, and where a stream begins."""
    given = np.asarray(answers)
    if keys is None:
        of = np.zeros(len(given), np.intp)
    else:
        check.require(len(keys) == len(given), "keys", f"be {len(given)}, one for each answer", len(keys))
        of = np.unique(np.asarray(keys), return_inverse=True)[1]
    order = np.argsort(of, kind="stable")
    return given[order], order, np.diff(of[order], prepend=-1) != 0


def flips(answers: Any, keys: Any = None) -> int:
    """How often an answer differs from the one before it; given `keys` (T,), from the one before of the same stream.

    Examples
    --------
    >>> flips(["cat", "dog", "cat", "cat"]), flips(["cat", "dog", "cat", "dog"], keys=[1, 2, 1, 2])
    (2, 0)
    """
    given, _, begins = _by_stream(answers, keys)
    return int(((given[1:] != given[:-1]) & ~begins[1:]).sum())


def delays(answers: Any, labels: Any, objects: Any) -> NDArray[np.float64]:
    """Frames of each object before its first correct answer; NaN for an object that never gets one.

    Parameters
    ----------
    objects : Any
        Which object each frame shows, (T,); the result is in the order in which they first appear.

    Examples
    --------
    >>> delays(["dog", "cat", "dog"], ["cat", "cat", "cat"], [7, 7, 9])
    array([ 1., nan])
    """
    check.require(len(answers) == len(labels), "answers", f"be {len(labels)}, one for each label", len(answers))
    return _frames_before(np.asarray(answers) == np.asarray(labels), objects)


def sure_after(probabilities: Any, objects: Any, *, until: float = 0.95) -> NDArray[np.float64]:
    """Frames of each object before the first whose answer has at least this probability; NaN if none has.

    Parameters
    ----------
    probabilities : Any
        Of each class, (T, K).
    objects : Any
        Which object each frame shows, (T,), or its track; the result is in the order in which they first appear.

    Examples
    --------
    >>> sure_after([[0.6, 0.4], [0.97, 0.03], [0.5, 0.5]], [7, 7, 9])
    array([ 1., nan])
    """
    posterior = np.asarray(probabilities, np.float64)
    check.array("probabilities", posterior, shape=(len(objects), None), dtype=np.float64)
    return _frames_before(posterior.max(axis=1, initial=0) >= check.real("until", until, low=0, high=1), objects)


def _frames_before(hits: NDArray[np.bool_], objects: Any) -> NDArray[np.float64]:
    """Frames of each object before its first hit."""
    hit, order, begins = _by_stream(hits, objects)
    starts = np.flatnonzero(begins)
    found = [float(part.argmax()) if part.any() else np.nan for part in np.split(hit, starts[1:])]
    return np.array(found)[np.argsort(order[starts])] if len(starts) else np.empty(0)


def accuracy_by_rows(predicted: Labels, video: Video) -> dict[str, float]:
    """Accuracy for each number of hidden rows (keys: "0", "3", ...), and on noise (key: "noise").

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> from springback.streaming.records import Images
    >>> video = make_omnist(Images(np.zeros((1, 28, 28), np.uint8), np.array([4])), seed=0)
    >>> right = accuracy_by_rows(np.full(len(video), 4), video)
    >>> right["0"], right["19"], right["noise"]
    (1.0, 1.0, 0.0)
    """
    hidden = {str(int(rows)): video.rows_hidden == rows for rows in np.unique(video.rows_hidden) if rows >= 0}
    return _accuracy_in(predicted, video, hidden)


def accuracy_by_ink(predicted: Labels, video: Video, *, n_bins: int = 10) -> dict[str, float]:
    """Accuracy for each tenth of the ink that is hidden (keys in percent: "0-10", ...), and on noise (key: "noise").

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> from springback.streaming.records import Images
    >>> video = make_omnist(Images(np.full((1, 28, 28), 9, np.uint8), np.array([4])), seed=0)
    >>> list(accuracy_by_ink(video.labels, video))[:3]
    ['0-10', '10-20', '20-30']
    """
    shown = video.labels != NOISE_LABEL
    tenth = np.minimum(np.nan_to_num(video.ink_hidden) * n_bins, n_bins - 1).astype(int)
    step = 100 // n_bins
    bins = {f"{step * one}-{step * (one + 1)}": shown & (tenth == one) for one in range(n_bins)}
    return _accuracy_in(predicted, video, bins)


def _accuracy_in(predicted: Labels, video: Video, groups: dict[str, NDArray[np.bool_]]) -> dict[str, float]:
    groups = {**groups, "noise": video.labels == NOISE_LABEL}
    return {name: accuracy(predicted[rows], video.labels[rows]) for name, rows in groups.items() if rows.any()}


def confusion(predicted: Any, labels: Any, classes: Classes = DIGITS) -> NDArray[np.int64]:
    """How often each class (row) was taken for each (column); the last row and column are `no_answer`.

    Examples
    --------
    >>> confusion(np.array(["cat", "cat", ""]), np.array(["cat", "dog", "dog"]), np.array(["cat", "dog"]))
    array([[1, 0, 0],
           [1, 0, 1],
           [0, 0, 0]])
    """
    rows, columns = class_indices("labels", labels, classes), class_indices("predicted", predicted, classes)
    check.require(len(rows) == len(columns), "predicted", f"be {len(rows)}, one for each label", len(columns))
    table = np.zeros((len(classes) + 1, len(classes) + 1), np.int64)
    np.add.at(table, (rows, columns), 1)
    return table


@dataclass(frozen=True)
class Score:
    """How a model answered: the class of each image or frame, its accuracy, and where it was correct.

    Parameters
    ----------
    predicted : NDArray[Any]
        The class it gave to each image or frame.
    accuracy : float
        Share of correct answers.
    by_rows_hidden, by_ink_hidden : dict[str, float]
        The same by how much is hidden, as from `accuracy_by_rows` and `accuracy_by_ink`; empty for still images.
    confusion : NDArray[np.int64]
        As from the function `confusion`.
    """

    predicted: NDArray[Any]
    accuracy: float
    by_rows_hidden: dict[str, float]
    by_ink_hidden: dict[str, float]
    confusion: NDArray[np.int64]


def score_video(predicted: Labels, video: Video) -> Score:
    """How right the answers to the frames of a video are, overall and by occlusion.

    Examples
    --------
    >>> from springback.data import make_omnist
    >>> from springback.streaming.records import Images
    >>> video = make_omnist(Images(np.zeros((1, 28, 28), np.uint8), np.array([4])), seed=0)
    >>> score_video(video.labels, video).accuracy
    1.0
    """
    return Score(
        predicted,
        accuracy(predicted, video.labels),
        accuracy_by_rows(predicted, video),
        accuracy_by_ink(predicted, video),
        confusion(predicted, video.labels),
    )
