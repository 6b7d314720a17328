"""How right a model's answers are: accuracy, accuracy by occlusion, confusion; for any number of classes.

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
    """Share of right answers; NaN if there are no labels.

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
