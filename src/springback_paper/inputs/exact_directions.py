"""The direction of the next observation in the random continuous environment, by its exact density."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from springback.data.environment import RandomContinuousEnvironment

Floats = NDArray[np.float64]


def unit(x: Floats) -> Floats:
    """Vectors along the last axis, each divided by its length; zero stays zero.

    Examples
    --------
    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12))


def projected_normal_log_density(x: Floats, means: Floats, deviation: Floats) -> Floats:
    """Log density on the unit sphere of the direction of a Gaussian N(mean, deviation^2 I).

    x (n,), means (m, n), deviation (m,) -> (m,). With a = x.mean / deviation,
    `p = (2 pi)^(-n/2) exp(-(|mean|^2 / deviation^2 - a^2) / 2) J_(n-1)(a)`, where
    `J_m = integral over r > 0 of r^m exp(-(r - a)^2 / 2) = a J_(m-1) + (m - 1) J_(m-2)`.

    Examples
    --------
    >>> round(float(np.exp(projected_normal_log_density(np.array([1.0, 0.0]), np.zeros((1, 2)), np.ones(1))[0])), 6)
    0.159155
    """
    n = x.size
    a = means @ x / deviation
    rest = (means**2).sum(axis=1) / deviation**2 - a**2
    two_back = np.sqrt(2 * np.pi) * np.exp(log_ndtr(np.maximum(a, -8.0)))
    one_back = a * two_back + np.exp(-np.minimum(a * a, 700.0) / 2)
    for m in range(2, n):
        two_back, one_back = one_back, a * one_back + (m - 1) * two_back
    far_side = -a * a / 2 + gammaln(n) - n * np.log(np.maximum(-a, 1e-300))
    integral = np.where(a < -8.0, far_side, np.log(np.maximum(one_back, 1e-300)))
    return np.asarray(-n / 2 * np.log(2 * np.pi) - rest / 2 + integral)


def log_sum_exp(values: Floats) -> float:
    """Log of the sum of the exponentials of some numbers, of which at least one is not -inf.

    The same as `scipy.special.logsumexp`, which takes ten times as long for a few hundred numbers.

    Examples
    --------
    >>> round(log_sum_exp(np.log([0.25, 0.5])), 6) == round(float(np.log(0.75)), 6)
    True
    """
    largest = values.max()
    at_largest = values == largest
    n_largest = int(np.count_nonzero(at_largest))
    others = np.exp(np.where(at_largest, -np.inf, values) - largest).sum()
    return float(np.log1p(others / n_largest) + np.log(n_largest) + largest)


def exact_direction_score(world: RandomContinuousEnvironment, points: Floats, times: Floats) -> Floats:
    """Log density of every observation's direction given all earlier positions, by Theorem S2.1, (T,).

    Examples
    --------
    >>> world = RandomContinuousEnvironment(means=np.eye(2), spreads=0.3, diffusion=0.1, beta=0.5, decay=5.0)
    >>> exact_direction_score(world, np.eye(2), np.arange(2.0)).shape
    (2,)
    """
    directions = unit(points)
    prior = np.full(len(world.means), 1 / len(world.means)) if world.prior is None else world.prior
    spreads = np.broadcast_to(np.asarray(world.spreads, np.float64), (len(world.means),))
    scores = np.empty(len(points))
    for t, x in enumerate(directions):
        ages = times[t] - times[:t]
        centres = np.concatenate([world.means, points[:t]])
        deviation = np.concatenate([spreads, world.diffusion * np.sqrt(ages)])
        odds = np.concatenate([world.beta * prior, world.odds(ages)])
        with np.errstate(divide="ignore"):
            scores[t] = log_sum_exp(np.log(odds / odds.sum()) + projected_normal_log_density(x, centres, deviation))
    return scores
