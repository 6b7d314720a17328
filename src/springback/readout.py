"""Responses -> neuron labels -> classes -> accuracy, by occlusion, confusion.

Labels of neurons come from training data alone; a neuron that never fired has no label.
"""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.records import NOISE_LABEL, Images, Video

UNLABELLED = -1
N_CLASSES = 10

Counts = NDArray[np.int32]
Labels = NDArray[np.int64]


def class_responses(counts: Counts, labels: Labels) -> NDArray[np.float64]:
    """Summed responses of each neuron to each class, (N_CLASSES, n_neurons); those of chunks may be added."""
    total = np.zeros((N_CLASSES, counts.shape[1]))
    for one in range(N_CLASSES):
        total[one] = counts[labels == one].sum(axis=0)
    return total


def label_neurons(responses: NDArray[np.float64], n_examples: NDArray[np.integer]) -> Labels:
    """The class each neuron responds to most on average; `UNLABELLED` if it never fired.

    >>> label_neurons(np.array([[4.0, 0, 1], [2.0, 0, 9]]), np.array([4, 1]))
    array([ 1, -1,  1])
    """
    mean = responses / np.maximum(n_examples, 1)[:, None]
    return np.where(responses.sum(axis=0) > 0, mean.argmax(axis=0), UNLABELLED)


def classify(counts: Counts, neuron_labels: Labels) -> Labels:
    """The class whose neurons fired most on average; `NOISE_LABEL` if no labelled neuron fired.

    >>> classify(np.array([[3, 0, 0], [0, 0, 0]], np.int32), np.array([7, 2, 2]))
    array([ 7, 10])
    """
    members = (neuron_labels[:, None] == np.arange(N_CLASSES)).astype(np.float32)
    rates = (counts.astype(np.float32) @ members) / np.maximum(members.sum(axis=0), 1)
    return np.where(rates.max(axis=1) > 0, rates.argmax(axis=1), NOISE_LABEL)


def accuracy(predicted: Labels, labels: Labels) -> float:
    """Share of right answers, in percent."""
    return float(100 * np.mean(predicted == labels)) if len(labels) else float("nan")


def accuracy_by_rows(predicted: Labels, video: Video) -> dict[str, float]:
    """Accuracy in percent for each number of hidden rows, and on noise."""
    hidden = {str(int(rows)): video.rows_hidden == rows for rows in np.unique(video.rows_hidden) if rows >= 0}
    return _accuracy_in(predicted, video, hidden)


def accuracy_by_ink(predicted: Labels, video: Video, *, n_bins: int = 10) -> dict[str, float]:
    """Accuracy in percent for each tenth of hidden ink (keys: "0-10", ...), and on noise."""
    shown = video.labels != NOISE_LABEL
    tenth = np.minimum(np.nan_to_num(video.ink_hidden) * n_bins, n_bins - 1).astype(int)
    step = 100 // n_bins
    bins = {f"{step * one}-{step * (one + 1)}": shown & (tenth == one) for one in range(n_bins)}
    return _accuracy_in(predicted, video, bins)


def _accuracy_in(predicted: Labels, video: Video, groups: dict[str, NDArray[np.bool_]]) -> dict[str, float]:
    groups = {**groups, "noise": video.labels == NOISE_LABEL}
    return {name: accuracy(predicted[rows], video.labels[rows]) for name, rows in groups.items() if rows.any()}


def confusion(predicted: Labels, labels: Labels) -> NDArray[np.int64]:
    """How often each class (row) was taken for each (column), (11, 11)."""
    table = np.zeros((N_CLASSES + 1, N_CLASSES + 1), np.int64)
    np.add.at(table, (labels, predicted), 1)
    return table


def refuse_overlap(labelled: Images, tested: Images) -> None:
    """Refuse to test on images that neurons were labelled with."""
    seen = set(_digests(labelled))
    shared = sum(digest in seen for digest in _digests(tested))
    check.require(
        shared == 0, "the test images", "not be among those the neurons were labelled with", f"{shared} that are"
    )


def _digests(images: Images) -> Iterable[bytes]:
    return (hashlib.blake2b(np.ascontiguousarray(one).data, digest_size=16).digest() for one in images.pixels)
