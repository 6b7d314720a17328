"""The compiled springs: one call follows a stretch of a stream."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.heads._gate import trust
from springback.heads._units import to_unit

_FORGOTTEN = np.float32(1e-30)
"""Entries of F below this become 0, so that no slow, denormal numbers are left."""


class SpringState(NamedTuple):
    """F, by which the inputs have pulled the weights, (K, n), the class memory, (K,), and a `GateState`."""

    short_term: NDArray[np.float32]
    classes: NDArray[np.float32]
    answered: NDArray[np.int64]
    shares: NDArray[np.float64]
    agreement: NDArray[np.float64]


@njit(cache=True)
def pull_rows(
    state: Any,
    rows: Any,
    gaps: Any,
    weight: Any,
    bias: Any,
    centre: Any,
    numbers: Any,
    unit_inputs: bool,
    centroids: bool,
) -> Any:
    """Outputs (T, K) of rows (T, n) before their own pull; moves the state.

    `numbers` are memory, pull, kappa, constant and continuity of `Springs`. With `centroids`, the output is kappa times
    the cosine to W + F, plus the log prior; without, it is that of the layer plus what F adds, as far as it is trusted.
    """
    short_term, classes, answered, shares, agreement = state
    memory, pull, kappa, constant, continuity = numbers
    n_classes, n = weight.shape[0], 0 if constant == 1 else weight.shape[1]
    outputs = np.empty((rows.shape[0], n_classes), np.float32)
    of_features, of_classes = np.float32(np.sqrt(1 - constant)), np.float32(np.sqrt(constant))
    log_prior = bias - bias.max()
    log_prior = log_prior - np.log(np.exp(log_prior).sum())
    sharp = np.float32(1.0 if centroids else kappa)
    moved = np.empty(n_classes, np.float32)
    for t in range(rows.shape[0]):
        direction = rows[t] - centre
        length = np.sqrt((direction * direction).sum())
        if unit_inputs:
            length = to_unit(direction, length)
        elif length == 0:
            length = to_unit(direction.copy(), length)
        direction *= of_features
        fading = np.float32(np.exp(-gaps[t] / memory))
        logits = weight @ rows[t] + bias
        trusted = np.float32(1.0)
        if not centroids:
            told = logits.argmax() if length > 0 else -1
            trusted = np.float32(trust(answered, shares, agreement, told, gaps[t], continuity))
        for k in range(n_classes):
            classes[k] *= fading
            dot, along, size, of_input = np.float32(0), 0.0, 0.0, 0.0
            for j in range(n):
                pulled = short_term[k, j] * fading
                if abs(pulled) < _FORGOTTEN:
                    pulled = np.float32(0)
                short_term[k, j] = pulled
                if centroids:
                    # In double precision, where no square of a float32 overflows or underflows.
                    efficacy, part = np.float64(weight[k, j] + pulled), np.float64(direction[j])
                    along += efficacy * part
                    size += efficacy * efficacy
                    of_input += part * part
                else:
                    dot += pulled * direction[j]
            if centroids:
                both = np.sqrt(size) * np.sqrt(of_input)
                moved[k] = np.float32(kappa * (along / both if both > 0 else 0.0)) + log_prior[k]
                outputs[t, k] = moved[k]
            else:
                added = dot + of_classes * classes[k]
                moved[k] = logits[k] + added
                outputs[t, k] = logits[k] + trusted * added
        posterior = np.exp(sharp * (moved - moved.max()))
        posterior /= posterior.sum()
        for k in range(n_classes):
            strength = np.float32(pull) * posterior[k]
            classes[k] += strength * of_classes
            for j in range(n):
                short_term[k, j] += strength * direction[j]
    return outputs
