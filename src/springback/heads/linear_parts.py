"""The weights of a fitted classifier of scikit-learn, if it is linear in its features."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_PROBES = 16
_TOLERANCE = 1e-6


class LinearParts(NamedTuple):
    """Weights (K, n) and biases (K,) of a linear classifier, and its classes (K,)."""

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    classes: NDArray[Any]


def linear_parts(estimator: Any) -> LinearParts:
    """Weights, biases and classes of a fitted linear classifier; any other estimator is refused.

    Two classes get half of the one decision value each, with opposite signs, so that the soft-max of both is the
    logistic function of the decision value.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> linear_parts(RidgeClassifier().fit([[0.0], [1.0]], ["low", "high"])).weight.shape
    (2, 1)
    """
    from sklearn.neighbors import NearestCentroid
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(estimator, "predict") or not hasattr(estimator, "fit"):
        raise TypeError(f"the classifier must be an estimator of scikit-learn; got {type(estimator).__name__}")
    check_is_fitted(estimator)
    parts = _of_centroids(estimator) if isinstance(estimator, NearestCentroid) else _of_coefficients(estimator)
    if len(parts.classes) < 2:
        raise ValueError(f"the classifier must know at least two classes; got {len(parts.classes)} class")
    _refuse_different_answers(estimator, parts)
    return parts


def _of_centroids(estimator: Any) -> LinearParts:
    """-|x - c|^2 is linear in x but for |x|^2, which is the same for all classes."""
    if estimator.metric != "euclidean":
        raise _not_linear(estimator, f"metric {estimator.metric!r}", "fit it with metric='euclidean'")
    centroids = np.asarray(estimator.centroids_, np.float64)
    n_classes = len(centroids)
    prior = np.asarray(getattr(estimator, "class_prior_", np.full(n_classes, 1 / n_classes)), np.float64)
    spread = np.ones(centroids.shape[1])
    if not np.isclose(prior, 1 / n_classes).all():
        measured = np.asarray(estimator.within_class_std_dev_, np.float64)
        spread = np.where(measured != 0, measured, 1.0)
    weight = 2 * centroids / spread**2
    bias = -((centroids / spread) ** 2).sum(axis=1) + 2 * np.log(prior)
    return LinearParts(weight, bias - bias.max(), np.asarray(estimator.classes_))


def _of_coefficients(estimator: Any) -> LinearParts:
    weight, classes = getattr(estimator, "coef_", None), getattr(estimator, "classes_", None)
    if weight is None or classes is None or np.ndim(classes) != 1:
        raise _not_linear(estimator)
    weight = np.atleast_2d(np.asarray(weight.toarray() if hasattr(weight, "toarray") else weight, np.float64))
    n_classes = len(classes)
    if len(weight) != (1 if n_classes == 2 else n_classes):
        raise _not_linear(estimator, f"coef_ of shape {weight.shape} for {n_classes} classes")
    bias = np.broadcast_to(np.asarray(getattr(estimator, "intercept_", 0.0), np.float64), (len(weight),))
    if n_classes == 2:
        weight, bias = np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2
    return LinearParts(weight, np.array(bias), np.asarray(classes))


def _refuse_different_answers(estimator: Any, parts: LinearParts) -> None:
    """Refuse an estimator that answers otherwise than its weights say, on random rows."""
    rows = np.random.default_rng(0).normal(size=(_PROBES, parts.weight.shape[1]))
    rows /= np.maximum(np.abs(parts.weight).max(axis=0), 1e-12)
    logits = rows @ parts.weight.T + parts.bias
    top = np.sort(logits, axis=1)
    clear = top[:, -1] - top[:, -2] > _TOLERANCE * np.abs(logits).max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the estimator may have been fitted with names of columns
        answers = np.asarray(estimator.predict(rows))
    same = answers.shape == (_PROBES,) and bool((answers == parts.classes[logits.argmax(axis=1)])[clear].all())
    if not same:
        raise _not_linear(estimator, "answers other than those of its weights")


def _not_linear(estimator: Any, got: str = "", remedy: str = "") -> TypeError:
    kernel = getattr(estimator, "kernel", None)
    got = got or (f"kernel {kernel!r}" if isinstance(kernel, str) else "")
    what = type(estimator).__name__ + (f" with {got}" if got else "")
    remedy = remedy or (
        "use one with predict_proba, fit a linear one to the same features (after a map such as Nystroem in a Pipeline "
        "if they need a kernel), or use springback.ElasticClassifier, which needs no classifier"
    )
    return TypeError(
        "the classifier must be linear in its features (LogisticRegression, LinearSVC, RidgeClassifier, "
        f"LinearDiscriminantAnalysis, NearestCentroid, SGDClassifier or the like); got {what}: {remedy}"
    )
