"""Inference of the hidden labels of a random continuous environment: Theorem S2.1, computed forward in time."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROWS_PER_BLOCK = 256


class Inference(NamedTuple):
    """The result of inference for each observation, given all earlier ones.

    Parameters
    ----------
    posterior : NDArray[np.float64]
        P(C_k | X_t, history), float64 (T, K).
    log_likelihood : NDArray[np.float64]
        Log p(X_t | history), float64 (T,), in nats.

    Examples
    --------
    >>> Inference(posterior=np.array([[0.75, 0.25]]), log_likelihood=np.array([-0.2])).posterior.argmax(axis=1)
    array([0])
    """

    posterior: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]


def gaussian_log_density(
    squared_distance: NDArray[np.float64], variance: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """The log density of an isotropic Gaussian in n dimensions at a squared distance from its centre.

    Examples
    --------
    >>> gaussian_log_density(np.array([0.0]), np.array([1.0]), 2).round(4)
    array([-1.8379])
    """
    density: NDArray[np.float64] = -0.5 * (squared_distance / variance + n * np.log(2.0 * np.pi * variance))
    return density


def infer_forward(
    points: NDArray[np.float64],
    times: NDArray[np.float64],
    *,
    log_novel: NDArray[np.float64],
    beta: float,
    odds: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    diffusion: float,
) -> Inference:
    """The posterior of every observation from those of all earlier ones (Theorem S2.1, Eq. S7).

        p(X_t, C_k | history) = [sum_i N(X_t; X_{t_i}, diffusion^2 (t - t_i) I) P_{t_i}(C_k) f(t - t_i)
                                 + beta p(X_t | C_k, B) P(C_k | B)] / [sum_i f(t - t_i) + beta]

    The posterior is its share of the sum over k, and that sum is p(X_t | history). In Theorem S2.2 (Eq. S15), the term
    with beta is inside the sum over i. This is a misprint: it belongs outside, once, as in Theorem S2.1 and here.

    The time grows as T^2 n, and the memory as T.

    Parameters
    ----------
    points : NDArray[np.float64]
        X_t, (T, n).
    times : NDArray[np.float64]
        (T,), increasing.
    log_novel : NDArray[np.float64]
        Log of beta p(X_t | C_k, B) P(C_k | B), (T, K).
    odds : Callable[[NDArray[np.float64]], NDArray[np.float64]]
        Ages t - t_i -> f(t - t_i), elementwise.

    Examples
    --------
    >>> alone = infer_forward(
    ...     np.zeros((1, 2)), np.zeros(1), log_novel=np.log([[0.3, 0.1]]), beta=0.5, odds=np.ones_like, diffusion=1.0
    ... )
    >>> alone.posterior, alone.log_likelihood.round(3)
    (array([[0.75, 0.25]]), array([-0.223]))
    """
    from scipy.spatial.distance import cdist

    n_steps, n = points.shape
    posterior = np.empty_like(log_novel)
    log_likelihood = np.empty(n_steps)
    for start in range(0, n_steps, ROWS_PER_BLOCK):
        stop = min(start + ROWS_PER_BLOCK, n_steps)
        squared_distance = cdist(points[start:stop], points[:stop], "sqeuclidean")
        for t in range(start, stop):
            ages = times[t] - times[:t]
            chances = odds(ages)
            with np.errstate(divide="ignore"):
                log_continued = np.log(chances)
            log_continued += gaussian_log_density(squared_distance[t - start, :t], diffusion**2 * ages, n)
            largest = max(log_continued.max(initial=-np.inf), log_novel[t].max())
            joint = np.exp(log_continued - largest) @ posterior[:t] + np.exp(log_novel[t] - largest)
            total = joint.sum()
            posterior[t] = joint / total
            log_likelihood[t] = largest + np.log(total) - np.log(chances.sum() + beta)
    return Inference(posterior, log_likelihood)
