"""The cosine between inputs and centroids, on which both likelihoods are based; and inputs that belong to no class.

Such an input is too far from every centroid, or more likely under a uniform background. Both thresholds can be set from
training data alone, which shows only what is *not* novel.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic.density import log_uniform_density
from springback.streaming.row_scaling import moderate


def similarity(efficacy: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """The cosine between every input and every centroid: `u = G.x / (|G| |x|)`; 0 where either is all zero.

    efficacy (centroids, features), x (..., features) -> (..., centroids). The compiled loops compute the same sums
    frame by frame.

    Examples
    --------
    >>> similarity(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([3.0, 0.0])).round(4)
    array([1.    , 0.7071])
    """
    efficacy, x = moderate(np.asarray(efficacy)), moderate(np.asarray(x))
    lengths = np.linalg.norm(x, axis=-1)[..., None] * np.linalg.norm(efficacy, axis=-1)
    dots = x @ efficacy.T
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0))


def similarity_threshold(similarity: NDArray[Any], lost: float = 0.001) -> float:
    """The similarity below which only a share `lost` of the training inputs falls.

    similarity (rows,): each training input's largest cosine to any centroid.

    Examples
    --------
    >>> round(similarity_threshold(np.linspace(0.5, 1.0, 1001), lost=0.1), 6)
    0.55
    """
    check.real("lost", lost, low=0, high=1)
    return float(np.quantile(np.asarray(similarity, np.float64), lost))


def best_threshold(similarity: NDArray[Any], novel: NDArray[np.bool_]) -> float:
    """The similarity threshold with the fewest mistakes on inputs known to be novel or not (of a training stream).

    Examples
    --------
    >>> round(best_threshold(np.array([0.2, 0.3, 0.6, 0.9]), np.array([True, True, False, False])), 3)
    0.45
    """
    order = np.argsort(similarity, kind="stable")
    ranked = np.asarray(similarity, np.float64)[order]
    balance = np.concatenate([[0], np.cumsum(np.where(np.asarray(novel)[order], 1, -1))])
    cut = int(balance.argmax())
    edges = np.concatenate([[ranked[0] - 1e-6], (ranked[1:] + ranked[:-1]) / 2, [ranked[-1] + 1e-6]])
    return float(edges[cut])


def is_novel_by_similarity(similarity: NDArray[Any], threshold: float) -> NDArray[np.bool_]:
    """Whether the largest cosine to any centroid is below the threshold.

    Examples
    --------
    >>> is_novel_by_similarity(np.array([0.2, 0.8]), 0.5)
    array([ True, False])
    """
    return np.asarray(np.asarray(similarity) < threshold, np.bool_)


def is_novel_by_likelihood(
    log_density: NDArray[np.float64], n_features: int, background: float = 0.5
) -> NDArray[np.bool_]:
    """Whether an input is more likely to come from a uniform background than from the model.

    log_density (rows,): log-likelihood under the mixture on the unit sphere; `background` is the prior probability of
    the uniform background. For one von Mises-Fisher component this is again a threshold on the cosine.

    Examples
    --------
    >>> is_novel_by_likelihood(np.array([-5.0, 5.0]), n_features=3)
    array([ True, False])
    """
    check.real("background", background, above=0)
    check.require(background < 1, "background", "be < 1", background)
    odds = np.log(background) - np.log1p(-background)
    return np.asarray(log_density < log_uniform_density(n_features) + odds, np.bool_)
