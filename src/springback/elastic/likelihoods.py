"""The two mixture models of the supplement: similarity, posterior and biases, in plain NumPy.

Exponential model (Def. S3.1): joint `exp(kappa * u + ln P)`, posterior by soft-max.
Linear model (Def. S4.1): joint `max(u + G0, 0)`, posterior by ratio.

In both, the similarity `u` is the cosine between the input and the centroid's efficacy. The compiled loop does the same
sums; these functions are the readable form and the one to use outside a stream.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.compiled import njit
from springback.magnitude import moderate

Likelihood = Literal["exponential", "linear"]
Inference = Literal["softmax", "ratio", "maximum"]
BiasRule = Literal["exact", "line", "zero"]

LIKELIHOODS: tuple[Likelihood, ...] = ("exponential", "linear")
INFERENCES: tuple[Inference, ...] = ("softmax", "ratio", "maximum")
BIAS_RULES: tuple[BiasRule, ...] = ("exact", "line", "zero")

Floats = NDArray[Any]


def similarity(efficacy: Floats, x: Floats) -> Floats:
    """The cosine between every input and every centroid: `u = G.x / (|G| |x|)`; 0 where either is all zero.

    efficacy (centroids, features), x (..., features) -> (..., centroids).

    Examples
    --------
    >>> similarity(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([3.0, 0.0])).round(4)
    array([1.    , 0.7071])
    """
    efficacy, x = moderate(np.asarray(efficacy)), moderate(np.asarray(x))
    lengths = np.linalg.norm(x, axis=-1)[..., None] * np.linalg.norm(efficacy, axis=-1)
    dots = x @ efficacy.T
    return np.asarray(np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0))


def exponential_posterior(u: Floats, prior: Floats, kappa: float = 1.0) -> Floats:
    """The soft-max posterior of the exponential model, Eq. "Q_model": `Q_k ~ P_k exp(kappa u_k)`.

    Examples
    --------
    >>> exponential_posterior(np.array([0.9, 0.1]), np.array([0.5, 0.5]), kappa=2.0).round(3)
    array([0.832, 0.168])
    """
    with np.errstate(divide="ignore"):
        log_joint = kappa * u + np.log(prior)
    joint = np.exp(log_joint - log_joint.max(axis=-1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))


def linear_posterior(u: Floats, bias: Floats, prior: Floats) -> Floats:
    """The ratio posterior of the linear model, Eq. "Q_model_cos": `Q_k ~ max(u_k + G0_k, 0)`.

    Where no centroid reaches its threshold the input says nothing and the prior is returned.

    Examples
    --------
    >>> linear_posterior(np.array([0.9, 0.7, 0.1]), np.array([-0.5, -0.5, -0.5]), np.full(3, 1 / 3)).round(4)
    array([0.6667, 0.3333, 0.    ])
    """
    joint = np.maximum(u + bias, 0.0)
    total = joint.sum(axis=-1, keepdims=True)
    fallback = np.broadcast_to(prior / prior.sum(), joint.shape).copy()
    return np.asarray(np.divide(joint, total, out=fallback, where=total > 0))


def prior_of_bias(bias: Floats) -> Floats:
    """The prior probability that belongs to a bias of the linear model, Eq. "P_G0".

    `P = sqrt(1 - G0^2) + G0 arccos(-G0)`, which rises from 0 at G0 = -1 to 1 at G0 = 0.

    Examples
    --------
    >>> prior_of_bias(np.array([-1.0, 0.0]))
    array([0., 1.])
    """
    bias = np.asarray(bias, np.float64)
    check.require(bool(((bias >= -1) & (bias <= 0)).all()), "bias", "lie within -1 ... 0", bias)
    return np.asarray(np.sqrt(1 - bias**2) + bias * np.arccos(-bias))


@njit(cache=True)
def exact_bias_of(prior: float) -> float:
    """`exact_bias` of one number, compiled: with G0 = -cos(phi), P = sin(phi) - phi cos(phi), by Newton in phi."""
    if prior <= 0.0:
        return -1.0
    if prior >= 1.0:
        return 0.0
    phi = min((3.0 * prior) ** (1.0 / 3.0), 1.5)
    for _ in range(30):
        move = (np.sin(phi) - phi * np.cos(phi) - prior) / (phi * np.sin(phi))
        phi -= move
        if abs(move) < 1e-15 * phi:
            break
    return float(-np.cos(phi))


def exact_bias(prior: Floats) -> Floats:
    """The bias of the linear model that gives each class its prior: Eq. "P_G0" solved for G0.

    Examples
    --------
    >>> prior_of_bias(exact_bias(np.array([0.001, 0.1, 0.9]))).round(12)
    array([0.001, 0.1  , 0.9  ])
    """
    prior = np.asarray(prior, np.float64)
    check.require(bool(((prior >= 0) & (prior <= 1)).all()), "prior", "lie within 0 ... 1", prior)
    return np.array([exact_bias_of(p) for p in prior.ravel()]).reshape(prior.shape)


def line_bias(prior: Floats) -> Floats:
    """The paper's straight line in place of `exact_bias`, Eq. "G0_cosine": `G0 = P - 1`.

    It is always below the exact bias: by at most 0.159, and by 0.017 for one of 400 equally likely classes.

    Examples
    --------
    >>> line_bias(np.array([0.25, 1.0]))
    array([-0.75,  0.  ])
    """
    return np.asarray(np.asarray(prior, np.float64) - 1.0)


def elastic_prior(prior: Floats, beta: float, responsibility: Floats, total: float) -> Floats:
    """What is expected of each class before the next input, Eq. "thr": `(sum_i Q_i f + P beta) / (sum_i f + beta)`.

    The exponential model's bias is its logarithm; the linear model's bias (Eq. "thr_cos") is `line_bias` of it.

    Parameters
    ----------
    prior : Floats
        P(C_k | B), (centroids,).
    responsibility : Floats
        Sum over the history of `Q_i f(t - t_i)`, (centroids,).
    total : float
        Sum over the history of `f(t - t_i)`.

    Examples
    --------
    >>> elastic_prior(np.array([0.5, 0.5]), 1.0, np.array([3.0, 0.0]), 3.0)
    array([0.875, 0.125])
    """
    return np.asarray((responsibility + prior * beta) / (total + beta))
