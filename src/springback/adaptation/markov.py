"""A hidden Markov filter over classes: it knows how classes follow each other, and sees the network's outputs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit


def sticky_transitions(n_classes: int, stay: float) -> NDArray[np.float64]:
    """Transitions (K, K) from row to column: stay with this probability, else go to any other class alike.

    Examples
    --------
    >>> sticky_transitions(3, 0.8)
    array([[0.8, 0.1, 0.1],
           [0.1, 0.8, 0.1],
           [0.1, 0.1, 0.8]])
    """
    check.integer("n_classes", n_classes, low=2)
    check.real("stay", stay, low=0, high=1)
    transitions = np.full((n_classes, n_classes), (1 - stay) / (n_classes - 1))
    np.fill_diagonal(transitions, stay)
    return transitions


def count_transitions(labels: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Transitions (K, K) as often as they occur in the labels of a (training) stream, one more of each.

    Examples
    --------
    >>> count_transitions(np.array([0, 0, 0, 1]), 2)
    array([[0.6, 0.4],
           [0.5, 0.5]])
    """
    check.integer("n_classes", n_classes, low=1)
    labels = np.asarray(labels)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise TypeError(f"labels must be whole numbers, one per frame; got {labels.dtype} of shape {labels.shape}")
    low, high = (int(labels.min()), int(labels.max())) if len(labels) else (0, 0)
    must = f"lie in 0 ... {n_classes - 1}, one less than n_classes"
    check.require(low >= 0 and high < n_classes, "labels", must, low if low < 0 else high)
    counts = np.ones((n_classes, n_classes))
    np.add.at(counts, (labels[:-1], labels[1:]), 1)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def filter_classes(
    probabilities: NDArray[Any], transitions: NDArray[np.float64], *, prior: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """The belief about the class of each frame given all frames so far, (T, K).

        belief_t(k) ~ p_t(k) / prior(k) * sum_j belief_(t-1)(j) transitions(j, k)

    Parameters
    ----------
    probabilities : NDArray[Any]
        What the network says of each frame alone, (T, K).
    prior : NDArray[Any] | None
        What it was trained to expect, (K,); uniform if not given.

    Examples
    --------
    >>> filter_classes(np.array([[0.9, 0.1], [0.4, 0.6]]), sticky_transitions(2, 0.9)).round(2)
    array([[0.9 , 0.1 ],
           [0.75, 0.25]])
    """
    seen = np.ascontiguousarray(probabilities, np.float64)
    check.array("probabilities", seen, shape=(None, None), dtype=np.float64)
    k = seen.shape[1]
    transitions = np.ascontiguousarray(transitions, np.float64)
    check.array("transitions", transitions, shape=(k, k), dtype=np.float64)
    check.require(bool((transitions >= 0).all()), "transitions", "be >= 0 everywhere", float(transitions.min()))
    expected = np.full(k, 1 / k) if prior is None else np.asarray(prior, np.float64)
    check.array("prior", expected, shape=(k,), dtype=np.float64)
    check.require(bool((expected > 0).all()), "prior", "be > 0 for every class", float(expected.min()))
    return np.asarray(_filter(seen / expected, transitions))


@njit(cache=True)
def _filter(likelihood: Any, transitions: Any) -> Any:
    steps, k = likelihood.shape
    belief = np.empty((steps, k))
    now = np.full(k, 1 / k)
    for t in range(steps):
        now = likelihood[t] * (now @ transitions) + 1e-300
        now /= now.sum()
        belief[t] = now
    return belief
