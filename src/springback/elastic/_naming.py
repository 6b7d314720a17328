"""From the posterior of the clusters to that of the labels, one frame at a time, for live data."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.compiled import for_types_of, njit


@njit(cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")
def _name(posterior: Any, shares: Any, answer: Any) -> None:
    """Write shares (L + 1, K) . posterior (K,), divided by the last number of it, into answer (L + 1,)."""
    for label in range(answer.size):
        total = 0.0
        for k in range(posterior.size):
            total += posterior[k] * shares[label, k]
        answer[label] = total
    whole = answer[answer.size - 1]
    for label in range(answer.size):
        answer[label] /= whole


class Naming:
    """`P(label | x) = sum_k P(label | k) Q_k(x)` of single frames; it serves as long as the counts are these.

    Parameters
    ----------
    counts : NDArray[np.float64]
        The counts that the shares come from; only kept, to be recognised.
    shares : NDArray[np.float64]
        P(label | k), (K, labels).

    Examples
    --------
    >>> shares = np.array([[1.0, 0.0], [0.5, 0.5]])
    >>> Naming(shares, shares).name(np.array([0.5, 0.5]))
    array([0.75, 0.25])
    """

    def __init__(self, counts: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
        self.counts = counts
        # One more label, of which every cluster has all: its answer is the sum of the others.
        self._shares = np.ascontiguousarray(np.hstack([shares, shares.sum(axis=1, keepdims=True)]).T)
        self._shape = (len(shares),)
        self._run: dict[Any, Callable[..., Any]] = {}

    def name(self, posterior: NDArray[Any]) -> NDArray[np.float64]:
        """Posterior of the labels (labels,) from that of the clusters (K,), which is contiguous."""
        if posterior.shape != self._shape:  # The compiled code does not look.
            raise ValueError(f"posterior must have shape {self._shape}; got {posterior.shape}")
        answer = np.empty(len(self._shares))
        run = self._run.get(posterior.dtype)
        if run is None:
            run = self._run[posterior.dtype] = for_types_of(_name, posterior, self._shares, answer)
        run(posterior, self._shares, answer)
        return answer[:-1]
