"""The similarity on which both likelihoods are based: the cosine between an input and a centroid."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.streaming.magnitude import moderate


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
