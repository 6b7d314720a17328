"""The springs of `_springs`, compiled: one call follows a stretch of all streams."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads._units import LONGEST, SHORTEST
from springback.layers._compiled_gate import judge_one, silence_one
from springback.layers._compiled_sensing import FLUSH_BELOW, LARGEST_LOG, dot, largest, sense_one
from springback.layers._compiled_window import measure_distance, read_window, remember


@njit(cache=True)
def softmax(row: Any, sharp: float, out: Any) -> None:
    """Soft-max of sharp * row into `out`; zero everywhere if anything is NaN."""
    top = largest(row)
    total = 0.0
    for k in range(row.size):
        out[k] = np.exp(sharp * (row[k] - top))
        total += out[k]
    for k in range(row.size):
        out[k] = out[k] / total if not np.isnan(total) else 0.0


@njit(cache=True, fastmath={"contract", "reassoc"})
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


@njit(cache=True)
def _relax_and_pull(short_term: Any, decay: Any, strength: Any, direction: Any) -> None:
    """F <- decay F + strength x^T."""
    own = short_term.dtype.type
    nothing, tiny = own(0), own(FLUSH_BELOW)
    for k in range(strength.size):
        amount, row = own(strength[k]), short_term[k]
        for j in range(direction.size):
            pulled = decay * row[j] + amount * direction[j]
            row[j] = pulled if abs(pulled) > tiny else nothing


@njit(cache=True)
def pull_streams(matrix: Any, window: Any, sums: Any, rows: Any, outputs: Any, gaps: Any, weight: Any, bias: Any,
                 centre: Any, numbers: Any, unit_inputs: bool) -> None:  # fmt: skip
    """Follow rows (T * B, n), T frames of B streams; `outputs` (T * B, K) holds those at rest, and then the answers.

    Parameters
    ----------
    matrix, window, sums
        The parts of a `MatrixState` or of a `WindowState`: F, or None; the parts of the window up to its position, with
        `seen` and `direction`, or None; the others.
    gaps
        (T,) how many frames after the one before it each frame comes.
    weight, bias
        (K, n) and (K,); both may be empty if biases rest and novelty is not asked for, the bias always.
    numbers
        Memory, pull (-1: derived), kappa, beta (0: biases at rest), novelty (-2: never; only with a matrix), constant,
        continuity and tuning (`PLAIN`: none) of `Springs`, and the distance of unrelated frames (0: measured).
    """
    responsibility, total, answered, shares, agreement = sums
    memory, pull, kappa, beta, novelty, constant, continuity, tuning, distance = numbers
    n_streams, n_classes = responsibility.shape
    n = rows.shape[1]
    decay = np.exp(-1 / memory)
    small = rows.dtype.type(decay)
    direction = np.zeros(n + (constant > 0), rows.dtype)
    if window is not None:
        inputs, strengths, weights, position, seen_frames, mean = window
        fade, here = weights.copy(), position[0]
    of_features, of_classes = np.sqrt(1 - constant), np.sqrt(constant)
    added, moved, strength = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    prior, expected = np.full(n_classes, 1 / n_classes), np.empty(n_classes)
    if bias.size > 0:
        softmax(bias, 1.0, prior)
    # One stream after the other, so that its F stays near the processor for the whole stretch.
    for number in range(rows.shape[0]):
        b, t = number // gaps.size, number % gaps.size
        row, gap = t * n_streams + b, gaps[t]
        silence_one(gap, agreement[b])
        if gap != 1:
            left = np.exp(min((1 - gap) / memory, LARGEST_LOG))
            total[b, 0] *= left
            responsibility[b] *= left
            if matrix is not None:
                matrix[b] *= left
            if window is not None:
                strengths[b] *= left
        if window is not None:  # noqa: SIM102 - what is None is pruned only if nothing else is asked
            if t == 0:
                fade[:], here = weights, position[0]
        rest = outputs[row]
        length = sense_one(rows[row], centre, unit_inputs, direction)
        seen = length > 0 and np.isfinite(length)
        novel = False
        if matrix is not None:  # noqa: SIM102
            if novelty >= -1:
                novel = _largest_cosine(weight, matrix[b], small, direction, length, unit_inputs) < novelty
        if constant > 0:
            for j in range(n):
                direction[j] *= of_features
            direction[n] = of_classes if np.isfinite(length) else 0.0
        if matrix is not None:
            for k in range(n_classes):
                added[k] = decay * dot(matrix[b, k], direction)
        if window is not None:
            tuned = 0.0 if constant == 1 else tuning
            if tuned > 0:
                finite, apart = np.isfinite(length), distance
                if distance == 0:
                    apart = measure_distance(direction, of_features, finite, seen_frames[b], mean[b])
                tuned /= apart
            read_window(inputs[b], strengths[b], fade, decay, direction, tuned, constant, added)
        for k in range(n_classes):
            if beta > 0:
                expected[k] = (responsibility[b, k] * decay + prior[k] * beta) / (total[b, 0] * decay + beta)
                added[k] += np.log(expected[k] / prior[k])
            moved[k] = rest[k] + added[k]
        trust = judge_one(rest, seen, continuity, answered[b], shares[b], agreement[b])
        for k in range(n_classes):
            rest[k] += trust * added[k]
        softmax(moved, kappa, strength)
        if novel or (beta > 0 and not seen):
            strength[:] = 0
        if beta > 0:
            pulled = 0.0
            for k in range(n_classes):
                responsibility[b, k] = responsibility[b, k] * decay + strength[k]
                pulled += strength[k]
            total[b, 0] = total[b, 0] * decay + pulled
        if pull != 0:
            for k in range(n_classes):
                strength[k] *= pull if pull > 0 else 1 / (beta * prior[k])
            if matrix is not None:
                _relax_and_pull(matrix[b], small, strength, direction)
            if window is not None:
                remember(inputs[b], strengths[b], strength, direction, here)
                fade *= small
                fade[here] = 1
                here = (here + 1) % fade.size
    if window is not None:
        weights[:], position[0] = fade, here
