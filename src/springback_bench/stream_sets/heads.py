"""Heads for features of a frozen network: a linear layer trained on still examples, or one prototype per class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets.record import Head

PROTOTYPE_GAIN = 20.0
"""Logits of a prototype head are this many times the cosine."""


def linear_head(features: NDArray[Any], labels: NDArray[np.int64], n_classes: int, *, strength: float) -> Head:
    """A logistic regression on still examples; classes without examples are never answered.

    Parameters
    ----------
    strength : float
        Inverse of the regularisation, scikit-learn's C.

    Examples
    --------
    >>> head = linear_head(np.eye(2, dtype=np.float32), np.array([0, 1]), 3, strength=1.0)
    >>> head.logits(np.eye(2, dtype=np.float32)).argmax(axis=1).tolist()
    [0, 1]
    """
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=strength, max_iter=2000, tol=1e-6).fit(features.astype(np.float64), labels)
    weight, bias = fitted.coef_, fitted.intercept_
    if len(fitted.classes_) == 2:
        weight, bias = np.vstack([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    all_weights = np.zeros((n_classes, features.shape[1]), np.float32)
    all_biases = np.full(n_classes, min(float(bias.min()), 0.0) - 20.0, np.float32)
    all_weights[fitted.classes_], all_biases[fitted.classes_] = weight, bias
    return Head(weight=all_weights, bias=all_biases, centre=np.asarray(features.mean(axis=0), np.float32))


def prototype_head(features: NDArray[Any], labels: NDArray[np.int64], n_classes: int) -> Head:
    """The mean direction of each class, compared by the cosine; features must have unit length.

    Examples
    --------
    >>> prototype_head(np.eye(2, dtype=np.float32), np.array([0, 1]), 2).weight.tolist()
    [[20.0, 0.0], [0.0, 20.0]]
    """
    weight = np.zeros((n_classes, features.shape[1]), np.float32)
    for label in np.unique(labels):
        weight[label] = PROTOTYPE_GAIN * unit_rows(features[labels == label].mean(axis=0))
    return Head(
        weight=weight,
        bias=np.zeros(n_classes, np.float32),
        centre=np.asarray(features.mean(axis=0), np.float32),
    )
