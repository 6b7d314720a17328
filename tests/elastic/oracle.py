"""Elastic clustering again, slow and plain: every quantity as a sum over the whole history (Eq. S24)."""

import numpy as np
from scipy.optimize import brentq

NODES = np.polynomial.legendre.leggauss(200)


def prior_of_bias(bias):
    """The prior that belongs to a bias of the linear model: P = sqrt(1 - G0^2) + G0 arccos(-G0), Eq. S39."""
    return np.sqrt(1 - bias**2) + bias * np.arccos(-bias)


def exponential_posterior(u, prior, kappa=1.0):
    """The soft-max posterior of the exponential model, Eq. S26: Q_k ~ P_k exp(kappa u_k)."""
    log_joint = kappa * u + np.log(prior)
    joint = np.exp(log_joint - log_joint.max())
    return joint / joint.sum()


def linear_posterior(u, bias, prior):
    """The ratio posterior of the linear model, Eq. S77: Q_k ~ max(u_k + G0_k, 0); the prior if all of these are 0."""
    joint = np.maximum(u + bias, 0.0)
    return joint / joint.sum() if joint.any() else prior


def elastic_prior(prior, beta, responsibility, total):
    """What is expected of each class before the next input, Eq. S25: (sum_i Q_i f + P beta) / (sum_i f + beta)."""
    return (responsibility + prior * beta) / (total + beta)


def pulled_prior(prior, gain, responsibility):
    """The same as Algorithm 1 writes it: F0 += gamma Q, G0 = (W0 + F0) / Z; `responsibility` is sum_i Q_i f / f(0)."""
    moved = prior + gain * responsibility
    return moved / moved.sum()


def prior_on_sphere(bias, n_features):
    """The same on the sphere of n features, by quadrature: the mean of the rectified cosine, 1 without a bias."""
    at, weight = NODES

    def mean(end):
        angle = end * (at + 1) / 2
        return end / 2 * weight @ ((np.cos(angle) - np.cos(end)) * np.sin(angle) ** (n_features - 2))

    return mean(np.arccos(-bias)) / mean(np.pi / 2)


def bias_on_sphere(prior, n_features):
    """Invert `prior_on_sphere` by a root finder."""
    return brentq(lambda bias: prior_on_sphere(bias, n_features) - prior, -1.0, 0.0, xtol=1e-15)


def bias_by_bisection(prior):
    """Invert `prior_of_bias` by halving."""
    low, high = -1.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if prior_of_bias(middle) < prior:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def follow(params, resting, prior, frames, times):
    """Posterior, short-term part before and prior of every frame: lists of (K,), (K, n), (K,)."""
    kernel = params.decay_kernel
    at_zero = float(kernel(np.zeros(1))[0])
    c = params.weight_dependence
    theta = np.maximum(c + (1 - c) * resting, 0)
    gain = np.full(len(prior), params.pull) if params.pull is not None else at_zero / (params.beta * prior)
    past, posteriors, short_terms, priors = [], [], [], []
    for x, now in zip(frames, times, strict=True):
        short_term, responsibility, total = np.zeros(resting.shape), np.zeros(len(prior)), 0.0
        remembered = past[-kernel.frames :] if hasattr(kernel, "frames") else past
        for seen, q, then in remembered:
            if q is None:
                continue
            f = float(kernel(np.array([now - then]))[0])
            direction = seen / np.sqrt((seen**2).sum()) if params.unit_inputs else seen
            kept = np.where(q > params.pull_threshold, q, 0)
            short_term += (gain * kept * f / at_zero)[:, None] * theta * direction
            responsibility += q * f
            total += f
        expected = prior if params.beta is None else elastic_prior(prior, params.beta, responsibility, total)
        if params.bias_update == "algorithm":
            expected = pulled_prior(prior, gain, responsibility / at_zero)
        short_terms.append(short_term)
        priors.append(expected)
        if not x.any():
            posteriors.append(expected)
            past.append((x, None, now))
            continue
        efficacy = resting + short_term
        u = np.array([g @ x / np.sqrt((g @ g) * (x @ x)) for g in efficacy])
        q, answered = _posterior(params, u, expected, resting.shape[1])
        posteriors.append(q)
        novel = params.novelty_threshold is not None and u.max() < params.novelty_threshold
        past.append((x, q if answered and not novel else None, now))
    return np.array(posteriors), np.array(short_terms), np.array(priors)


def _posterior(params, u, expected, n_features):
    """Q, and whether any centroid answers."""
    if params.likelihood == "exponential":
        q, answered = exponential_posterior(u, expected, params.kappa), True
    else:
        rules = {
            "sphere": lambda p: bias_on_sphere(p, n_features),
            "circle": bias_by_bisection,
            "line": lambda p: p - 1.0,
            "zero": lambda _: 0.0,
        }
        bias = np.array([rules[params.bias_rule](p) for p in expected])
        q, answered = linear_posterior(u, bias, expected), bool((u + bias > 0).any())
        if answered and params.inference == "softmax":
            q = exponential_posterior(np.maximum(u + bias, 0), np.ones(len(u)), params.kappa)
    if answered and params.inference == "maximum":
        q = np.eye(len(u))[q.argmax()]
    return q, answered
