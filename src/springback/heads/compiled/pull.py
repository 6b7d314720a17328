"""How inputs pull, compiled, whether F is a matrix or a window of inputs; what is None is pruned."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import FLUSH_BELOW, LONGEST, SHORTEST, dot, next_distance, sense_one, softmax
from springback.heads.compiled.gate import frames_of, trust
from springback.heads.compiled.ring import read_window, remember


@njit(cache=True, inner=True, fastmath={"contract", "reassoc"})
def _largest_cosine(weight: Any, short_term: Any, decay: Any, direction: Any, length: Any, unit_inputs: bool) -> float:
    """The largest cosine between the input and any row of the relaxed G: |x| W + F, or W + F as inputs are."""
    best, own = -2.0, weight.dtype.type
    resting = own(length) if unit_inputs else own(1)
    for k in range(weight.shape[0]):
        product, squared = own(0), own(0)
        w, f = weight[k], short_term[k]
        for j in range(weight.shape[1]):
            efficacy = resting * w[j] + decay * f[j]
            product += efficacy * direction[j]
            squared += efficacy * efficacy
        if not (squared > SHORTEST**2 and squared < LONGEST**2):
            products, squares = 0.0, 0.0
            for j in range(weight.shape[1]):
                wide = np.float64(resting) * w[j] + np.float64(decay) * f[j]
                products += wide * direction[j]
                squares += wide * wide
            product, squared = products, squares
        both = np.sqrt(squared) * (1.0 if unit_inputs else length)
        cosine = product / both if both > 0 and np.isfinite(both) else 0.0
        best = max(best, min(max(cosine, -1.0), 1.0))
    return best


@njit(cache=True, inner=True)
def _relax_and_pull(short_term: Any, decay: Any, strength: Any, direction: Any) -> None:
    """F <- decay F + strength x^T."""
    own = short_term.dtype.type
    nothing, tiny = own(0), own(FLUSH_BELOW)
    for k in range(strength.size):
        amount, row = own(strength[k]), short_term[k]
        for j in range(direction.size):
            pulled = decay * row[j] + amount * direction[j]
            row[j] = pulled if abs(pulled) > tiny else nothing


@njit(cache=True, makes_arrays=True, inner=True)
def pull_along(
    matrix: Any, window: Any, others: Any, rows: Any, outputs: Any, gaps: Any, weight: Any, bias: Any, centre: Any,
    numbers: Any
) -> None:  # fmt: skip
    """Follow frames with F as a `matrix`, or as the parts of a `window`; the outputs at rest become the answers."""
    responsibility, total, answered, shares, agreement = others
    memory, pull, kappa, beta, constant, continuity, unit_inputs, in_frames, threshold, tuning, distance = numbers
    n_streams, n_classes = responsibility.shape
    n = rows.shape[1]
    # What pulls: the features, then the constant component; only those of them that have a share.
    sensed = np.zeros(n + 1, rows.dtype)
    features = sensed[:n]
    pulling = sensed[n if constant == 1 else 0 : n + 1 if constant > 0 else n]
    of_features, of_classes = np.sqrt(1 - constant), np.sqrt(constant)
    added, moved, strength = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    prior, expected = np.full(n_classes, 1 / n_classes), np.empty(n_classes)
    if bias.size > 0:
        softmax(bias, 1.0, prior)
    if window is not None:
        keys, strengths, odds, position, seen_frames, mean = window
    # One stream after the other, so that its F stays near the processor for the whole stretch.
    for number in range(rows.shape[0]):
        b, t = number // gaps.shape[0], number % gaps.shape[0]
        row, gap = t * n_streams + b, gaps[t, b]
        fading = np.exp(-gap / memory)
        small = rows.dtype.type(fading)
        rest = outputs[row]
        length = sense_one(rows[row], centre, unit_inputs > 0, features)
        finite = np.isfinite(length)
        seen = length > 0 and finite

        # What F adds.
        novel = False
        if matrix is not None:  # noqa: SIM102 - what is None is pruned only if nothing else is asked
            if threshold >= -1:
                novel = _largest_cosine(weight, matrix[b], small, features, length, unit_inputs > 0) < threshold
        tuned = 0.0 if constant == 1 else tuning
        if window is not None:  # noqa: SIM102
            if tuned > 0:
                apart = distance
                if distance == 0:
                    seen_frames[b, 0] += finite
                    apart = next_distance(features, finite, seen_frames[b], mean[b])
                tuned /= apart
        if constant > 0:
            for j in range(n):
                features[j] *= of_features
            sensed[n] = of_classes if finite else 0.0
        if matrix is not None:
            for k in range(n_classes):
                added[k] = fading * dot(matrix[b, k], pulling)
        if window is not None:
            read_window(keys[b], strengths[b], odds[b], fading, pulling, tuned, constant, added)
        for k in range(n_classes):
            if beta > 0:
                expected[k] = (responsibility[b, k] * fading + prior[k] * beta) / (total[b, 0] * fading + beta)
                added[k] += np.log(expected[k] / prior[k])
            moved[k] = rest[k] + added[k]
        trusted = trust(answered[b], shares[b], agreement[b], rest, seen, frames_of(gap, in_frames), continuity)
        softmax(moved, kappa, strength)
        for k in range(n_classes):
            rest[k] += trusted * added[k]

        # The pull.
        if novel or (beta > 0 and not seen):
            strength[:] = 0
        if beta > 0:
            pulled = 0.0
            for k in range(n_classes):
                responsibility[b, k] = responsibility[b, k] * fading + strength[k]
                pulled += strength[k]
            total[b, 0] = total[b, 0] * fading + pulled
        if pull != 0:
            for k in range(n_classes):
                strength[k] *= pull if pull > 0 else 1 / (beta * prior[k])
            if matrix is not None:
                _relax_and_pull(matrix[b], small, strength, pulling)
            if window is not None:
                odds[b] *= small
                remember(keys[b], strengths[b], odds[b], position[b], strength, pulling)
