"""Elastic clustering again, slow and plain: every quantity as a sum over the whole history (Eq. "F3_dynamics")."""

import numpy as np


def bias_by_bisection(prior):
    """Invert P = sqrt(1 - G^2) + G arccos(-G) by halving."""
    low, high = -1.0, 0.0
    for _ in range(200):
        middle = (low + high) / 2
        if np.sqrt(1 - middle**2) + middle * np.arccos(-middle) < prior:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def follow(params, resting, prior, frames, times):
    """Posterior, short-term part before and prior of every frame: lists of (K,), (K, n), (K,)."""
    kernel = params.kernel
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
        expected = prior if params.beta is None else (responsibility + prior * params.beta) / (total + params.beta)
        short_terms.append(short_term)
        priors.append(expected)
        if not x.any():
            posteriors.append(expected)
            past.append((x, None, now))
            continue
        efficacy = resting + short_term
        u = np.array([g @ x / np.sqrt((g @ g) * (x @ x)) for g in efficacy])
        q, answered = _posterior(params, u, expected)
        posteriors.append(q)
        novel = params.novelty is not None and u.max() < params.novelty
        past.append((x, q if answered and not novel else None, now))
    return np.array(posteriors), np.array(short_terms), np.array(priors)


def _posterior(params, u, expected):
    if params.likelihood == "exponential":
        activation = params.kappa * u + np.log(expected)
        joint = np.exp(activation - activation.max())
        answered = True
    else:
        rules = {"exact": bias_by_bisection, "line": lambda p: p - 1.0, "zero": lambda _: 0.0}
        activation = np.maximum(u + np.array([rules[params.bias_rule](p) for p in expected]), 0)
        answered = activation.max() > 0
        joint = np.exp(params.kappa * activation) if params.inference == "softmax" else activation
    if not answered:
        return expected, False
    if params.inference == "maximum":
        return np.eye(len(u))[activation.argmax()], True
    return joint / joint.sum(), True
