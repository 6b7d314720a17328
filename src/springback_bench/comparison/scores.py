"""How accurate answers are, and how far their probabilities can be trusted. All scores are fractions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 15
COVERAGE = 0.9


def right_answers(probabilities: NDArray[Any], labels: NDArray[Any]) -> float:
    """Share of frames whose most probable class is the right one; frames without a label do not count.

    >>> right_answers(np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]]), np.array([0, 1, -1]))
    0.5
    """
    scored = labels >= 0
    return float((probabilities.argmax(axis=1) == labels)[scored].mean())


def calibration_error(probabilities: NDArray[Any], labels: NDArray[Any], *, bins: int = BINS) -> float:
    """The expected calibration error: how far confidence and accuracy lie apart, on average over the frames.

    Frames are sorted into bins of equal width by the probability of the answer.

    >>> calibration_error(np.array([[0.8, 0.2], [0.8, 0.2]]), np.array([0, 1])).__round__(6)
    0.3
    """
    scored = labels >= 0
    confidence = probabilities.max(axis=1)[scored]
    right = (probabilities.argmax(axis=1) == labels)[scored]
    place = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(place, weights=right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def accuracy_at_coverage(probabilities: NDArray[Any], labels: NDArray[Any], *, coverage: float = COVERAGE) -> float:
    """Accuracy if only the most confident answers are given, a share `coverage` of all.

    >>> accuracy_at_coverage(np.array([[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]), coverage=0.5)
    1.0
    """
    scored = labels >= 0
    confidence = probabilities.max(axis=1)[scored]
    right = (probabilities.argmax(axis=1) == labels)[scored]
    most = np.argsort(-confidence, kind="stable")[: max(1, round(coverage * len(right)))]
    return float(right[most].mean())


def accuracy_by_gap(probabilities: NDArray[Any], labels: NDArray[Any], away: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy on objects that return, for each number of frames that they were away.

    >>> accuracy_by_gap(np.eye(2)[[0, 1, 1]], np.array([0, 1, 0]), np.array([0, 3, 3]))
    {'3': 0.5}
    """
    lengths = np.unique(away[(away > 0) & (labels >= 0)])
    return {str(gap): right_answers(probabilities[away == gap], labels[away == gap]) for gap in lengths}
