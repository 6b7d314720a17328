"""Centroids with the exponential likelihood (Section S3), compiled."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import FLUSH_BELOW, sense_one, softmax


@njit(cache=True, makes_arrays=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with centroids W + F; the answers are kappa times the cosine to each, plus the log prior."""
    short_term = state[0]
    memory, pull, kappa, unit_inputs = numbers
    n_streams, n_classes, n = short_term.shape
    own = short_term.dtype.type
    direction = np.empty(n, rows.dtype)
    posterior, log_prior = np.empty(n_classes), np.full(n_classes, -np.log(n_classes))
    if bias.size > 0:
        softmax(bias, 1.0, posterior)
        log_prior[:] = np.log(posterior)
    for number in range(rows.shape[0]):
        b, t = number // gaps.shape[0], number % gaps.shape[0]
        row, fading = t * n_streams + b, own(np.exp(-gaps[t, b] / memory))
        sense_one(rows[row], centre, unit_inputs > 0, direction)
        of_input = 0.0
        for j in range(n):
            of_input += np.float64(direction[j]) * direction[j]
        for k in range(n_classes):
            along, size = 0.0, 0.0
            for j in range(n):
                pulled = short_term[b, k, j] * fading
                if abs(pulled) < FLUSH_BELOW:
                    pulled = own(0)
                short_term[b, k, j] = pulled
                # In double precision, where no square of a float32 overflows or underflows.
                efficacy = np.float64(weight[k, j] + pulled)
                along += efficacy * direction[j]
                size += efficacy * efficacy
            both = np.sqrt(size) * np.sqrt(of_input)
            answers[row, k] = kappa * (along / both if both > 0 else 0.0) + log_prior[k]
        softmax(answers[row], 1.0, posterior)
        for k in range(n_classes):
            strength = own(pull * posterior[k])
            for j in range(n):
                short_term[b, k, j] += strength * direction[j]
