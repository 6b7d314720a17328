"""Prototype adjustment at test time (after Iwasawa & Matsuo 2021, "T3A", NeurIPS)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit


def adjust_prototypes(
    features: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any], *, n_support: int
) -> NDArray[np.float32]:
    """Logits (T, K) by prototypes that start at the class weights and take up the features of test frames.

    Each class keeps a set of unit-length vectors: its own weight vector, and the `n_support` features that the frozen
    network gave to it with the lowest entropy. A frame joins the set of its class first; its logits are then its inner
    products with the mean vector of each set, as in the article.

    Examples
    --------
    >>> adjust_prototypes(np.array([[1.0, 1.0]]), np.eye(2), np.array([0.1, 0.0]), n_support=5).round(2)
    array([[1.21, 1.  ]], dtype=float32)
    """
    check.integer("n_support", n_support, low=1)
    x = np.ascontiguousarray(features, np.float32)
    w = np.ascontiguousarray(weight, np.float32)
    check.array("weight", w, shape=(None, None), dtype=np.float32)
    check.array("features", x, shape=(None, w.shape[1]), dtype=np.float32)
    check.array("bias", np.asarray(bias, np.float32), shape=(len(w),), dtype=np.float32)
    frozen = x @ w.T + np.asarray(bias, np.float32)
    return np.asarray(_run(x, w, frozen, n_support))


@njit(cache=True)
def _run(x: Any, w: Any, frozen: Any, n_support: int) -> Any:
    k, n = w.shape
    support, entropies = np.zeros((k, n_support, n), np.float32), np.full((k, n_support), np.inf)
    filled = np.zeros(k, np.int64)
    total = np.empty((k, n), np.float32)
    for one in range(k):
        total[one] = w[one] / np.sqrt((w[one] ** 2).sum())
    logits = np.empty((x.shape[0], k), np.float32)
    for t in range(x.shape[0]):
        log_p = frozen[t] - frozen[t].max()
        log_p -= np.log(np.exp(log_p).sum())
        entropy = -(np.exp(log_p) * log_p).sum()
        mine = frozen[t].argmax()
        place = filled[mine] if filled[mine] < n_support else entropies[mine].argmax()
        if filled[mine] < n_support or entropy < entropies[mine, place]:
            unit = x[t] / max(np.sqrt((x[t] ** 2).sum()), np.float32(1e-12))
            total[mine] += unit - support[mine, place]
            support[mine, place] = unit
            entropies[mine, place] = entropy
            filled[mine] = min(filled[mine] + 1, n_support)
        for one in range(k):
            logits[t, one] = (total[one] @ x[t]) / (1 + filled[one])
    return logits
