"""Where the centroids rest: EM for a mixture of von Mises-Fisher components, or spherical k-means.

Both are the M-step of Theorem S3.1 (Eqs. S19 and S20: a centroid points to the mean of its class). They start from
k-means++ on the sphere and work on inputs of length one; all-zero rows have no direction and are left out.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.elastic.density import log_vmf_normaliser
from springback.streaming.row_scaling import moderate

_ROWS = 4096


class Resting(NamedTuple):
    """Resting centroids of length one (K, n), their prior (K,), the concentration, and the log-likelihood per row.

    `log_likelihood` has one entry per iteration (for k-means, the mean cosine to the nearest centroid).
    """

    centroids: NDArray[Any]
    prior: NDArray[np.float64]
    kappa: float
    log_likelihood: NDArray[np.float64]


def directions_of(x: Any) -> NDArray[Any]:
    """Rows scaled to length one; all-zero rows are left out.

    Examples
    --------
    >>> directions_of(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8]])
    """
    x = np.asarray(x)
    dtype = np.float32 if x.dtype == np.float32 else np.float64
    x = check.array("x", np.ascontiguousarray(x, dtype), shape=(None, None), dtype=dtype)
    largest = np.abs(x).max(axis=1, keepdims=True, initial=0)
    x = x[largest[:, 0] > 0] / largest[largest[:, 0] > 0]
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def spread_out(x: NDArray[Any], n_clusters: int, rng: np.random.Generator) -> NDArray[Any]:
    """k-means++ on the sphere: rows of x, each drawn with odds 1 - cos to the nearest one drawn before.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> sorted(spread_out(rows, 2, np.random.default_rng(0)).tolist())
    [[0.0, 1.0], [1.0, 0.0]]
    """
    centroids = np.empty((n_clusters, x.shape[1]), x.dtype)
    nearest = np.ones(len(x))
    for k in range(n_clusters):
        if nearest.sum() > 0:
            pick = np.searchsorted(np.cumsum(nearest), rng.random() * nearest.sum(), side="right")
        else:
            pick = rng.integers(len(x))
        centroids[k] = x[min(int(pick), len(x) - 1)]
        away = 1 - (x @ centroids[k]).astype(np.float64)
        away[away < 1e-6] = 0
        nearest = np.minimum(nearest, away) if k else away
    return centroids


def _start(x: Any, n_clusters: int, start: Any, seed: Any) -> tuple[NDArray[Any], NDArray[Any], np.random.Generator]:
    rng = np.random.default_rng(seed)
    check.integer("n_clusters", n_clusters, low=1)
    x = directions_of(x)
    check.require(
        len(x) >= n_clusters, "n_samples", f"be >= n_clusters = {n_clusters} (rows that are not zero)", len(x)
    )
    if start is not None:
        start = np.array(start, x.dtype)
        check.array("start", start, shape=(n_clusters, x.shape[1]), dtype=x.dtype)
        check.require(bool(start.any(axis=1).all()), "start", "hold no row of zeros", start)
        start = moderate(start)
        return x, start / np.linalg.norm(start, axis=1, keepdims=True), rng
    few = min(len(x), max(20 * n_clusters, 5000))
    rows = x if few == len(x) else x[np.sort(rng.choice(len(x), few, replace=False))]
    return x, spread_out(rows, n_clusters, rng), rng


def _refill(centroids: NDArray[Any], sums: NDArray[np.float64], x: NDArray[Any], rng: np.random.Generator) -> None:
    """New centroids from summed inputs; a centroid that lost all its inputs restarts at a random row."""
    length = np.linalg.norm(sums, axis=1)
    alive = length > 1e-9
    centroids[alive] = sums[alive] / length[alive, None]
    if not alive.all():
        centroids[~alive] = x[rng.choice(len(x), int((~alive).sum()), replace=False)]


def spherical_k_means(
    x: Any, n_clusters: int, *, seed: Any = None, start: Any = None, iterations: int = 30, tolerance: float = 1e-4
) -> Resting:
    """Centroids that maximise the mean cosine between each input and its nearest centroid.

    x (rows, features); `start` (K, n) replaces k-means++. Stops when the mean cosine gains less than `tolerance`.

    Examples
    --------
    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0], [-0.1, 1.0]])
    >>> sorted(spherical_k_means(rows, 2, seed=0).centroids.round(6).tolist())
    [[0.0, 1.0], [1.0, 0.0]]
    """
    x, centroids, rng = _start(x, n_clusters, start, seed)
    history: list[float] = []
    counts = np.zeros(n_clusters)
    for _ in range(check.integer("iterations", iterations, low=1)):
        sums = np.zeros(centroids.shape)
        counts[:] = 0
        total = 0.0
        for first in range(0, len(x), _ROWS):
            rows = x[first : first + _ROWS]
            cosine = rows @ centroids.T
            own = cosine.argmax(axis=1)
            total += float(cosine[np.arange(len(rows)), own].sum(dtype=np.float64))
            order = np.argsort(own, kind="stable")
            starts = np.flatnonzero(np.diff(own[order], prepend=-1))
            sums[own[order][starts]] += np.add.reduceat(rows[order], starts, axis=0)
            counts += np.bincount(own, minlength=n_clusters)
        _refill(centroids, sums, x, rng)
        history.append(total / len(x))
        if len(history) > 1 and history[-1] - history[-2] < tolerance:
            break
    return Resting(centroids, (counts + 1) / (counts.sum() + n_clusters), np.inf, np.array(history))


def mean_length_to_kappa(mean_length: float, n_features: int) -> float:
    """The concentration whose mean resultant length is `mean_length` (approximation by Banerjee et al. 2005).

    Examples
    --------
    >>> round(mean_length_to_kappa(0.5, 3), 3)
    1.833
    """
    mean_length = min(max(mean_length, 1e-6), 1 - 1e-9)
    return float(mean_length * (n_features - mean_length**2) / (1 - mean_length**2))


def fit_von_mises_fisher(
    x: Any,
    n_clusters: int,
    *,
    kappa: float | None = None,
    seed: Any = None,
    start: Any = None,
    iterations: int = 50,
    tolerance: float = 1e-4,
) -> Resting:
    """EM for a mixture of von Mises-Fisher components with one shared concentration.

    Stops when the log-likelihood per row gains less than `tolerance`.

    Parameters
    ----------
    kappa : float | None
        A fixed concentration; None: it is estimated.
    start : Any
        Initial centroids (K, n), instead of k-means++.

    Examples
    --------
    >>> from springback.elastic.density import sample_vmf
    >>> rows = sample_vmf(np.repeat(np.eye(3)[:2], 500, axis=0), 50.0, seed=0)
    >>> found = fit_von_mises_fisher(rows, 2, seed=0)
    >>> sorted(np.abs(found.centroids).round(1).tolist()), bool(40 < found.kappa < 60)
    ([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], True)
    """
    x, centroids, rng = _start(x, n_clusters, start, seed)
    n = x.shape[1]
    prior = np.full(n_clusters, 1 / n_clusters)
    now = check.real("kappa", kappa, above=0) if kappa is not None else max(10.0, n / 4)
    history: list[float] = []
    for _ in range(check.integer("iterations", iterations, low=1)):
        sums = np.zeros(centroids.shape)
        weight = np.zeros(n_clusters)
        total = 0.0
        for first in range(0, len(x), _ROWS):
            rows = x[first : first + _ROWS]
            joint = (rows @ centroids.T) * x.dtype.type(now)
            joint += np.log(prior).astype(x.dtype)
            top = joint.max(axis=1, keepdims=True)
            np.exp(joint - top, out=joint)
            evidence = joint.sum(axis=1, keepdims=True)
            total += float((top + np.log(evidence)).sum(dtype=np.float64))
            joint /= evidence
            sums += joint.T @ rows
            weight += joint.sum(axis=0, dtype=np.float64)
        history.append(total / len(x) + log_vmf_normaliser(n, now))
        resultant = float(np.linalg.norm(sums, axis=1).sum() / len(x))
        _refill(centroids, sums, x, rng)
        prior = np.maximum(weight, 1e-3)
        prior /= prior.sum()
        if kappa is None:
            now = min(mean_length_to_kappa(resultant, n), 1e6)
        if len(history) > 1 and abs(history[-1] - history[-2]) < tolerance:
            break
    return Resting(centroids, prior, float(now), np.array(history))
