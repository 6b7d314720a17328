"""The exact observer, compiled. Logarithms are kept wherever a sharp posterior would underflow."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.class_means import (
    bet,
    consolidate,
    follow_record,
    largest_of,
    note,
    pass_time,
    read_means,
    weight_of,
)
from springback.heads.compiled.frame import (
    FLUSH_BELOW,
    all_finite,
    dot,
    largest,
    next_distance,
    next_spread,
    sense_one,
    softmax,
    spread_of,
)
from springback.heads.compiled.gate import frames_of, trust
from springback.heads.continuity import FORGETTING
from springback.heads.earning import MOST_FAST, RATE_FAST, RATE_NEAR, RATE_SLOW, START_FAST, START_SLOW
from springback.heads.scale import SMALLEST_SPREAD

_LARGEST_EXPONENT = 600.0
_LARGEST_SHARE = 80.0
_SMALLEST_SHARE = 1e-290
"""Smaller sums of probabilities are computed from their logarithms."""


@njit(cache=True, inner=True)
def _log_softmax(row: Any) -> float:
    """In place; returns what was subtracted. NaN everywhere if anything is NaN or plus infinity."""
    top = largest(row)
    total = 0.0
    for k in range(row.size):
        total += np.exp(row[k] - top)
    top += np.log(total)
    for k in range(row.size):
        row[k] -= top
    return float(top)


@njit(cache=True, inner=True)
def _shares(row: Any, out: Any) -> float:
    """`_log_softmax` in place, with what it is the logarithm of into `out`; returns what was subtracted."""
    top = largest(row)
    total = 0.0
    for k in range(row.size):
        out[k] = np.exp(row[k] - top)
        total += out[k]
    for k in range(row.size):
        out[k] /= total
    top += np.log(total)
    for k in range(row.size):
        row[k] -= top
    return float(top)


@njit(cache=True, inner=True)
def _log_sum(a: float, b: float) -> float:
    """Ln(e^a + e^b)."""
    top = max(a, b)
    return top if np.isinf(top) else top + np.log(np.exp(a - top) + np.exp(b - top))


@njit(cache=True, inner=True)
def _answer(log_frozen: Any, same: Any, novelty: float, evidence: float, answer: Any) -> None:
    """Ln (novelty s_k + same_k (K s_k)^evidence) of every class k, up to a constant, from ln s_k."""
    log_classes = evidence * np.log(log_frozen.size)
    for k in range(answer.size):
        # s_k is taken out of the sum: what is left only overflows if s_k is far below the smallest float.
        exponent = log_classes + (evidence - 1) * log_frozen[k]
        if exponent < _LARGEST_EXPONENT:
            answer[k] = log_frozen[k] + np.log(novelty + same[k] * np.exp(exponent))
        elif log_frozen[k] == -np.inf:
            answer[k] = -np.inf
        else:
            again = np.log(same[k]) + log_classes + evidence * log_frozen[k]
            answer[k] = _log_sum(np.log(novelty) + log_frozen[k], again)


@njit(cache=True, inner=True)
def _believe(gain: float, share: Any, near: Any, posteriors: Any, keys: Any, unit: Any, expected: Any) -> None:
    """What the object looks like: the frame, mixed with what was remembered of the same object; replaces `unit`.

    `share` is the evidence divided by the sum over all hypotheses, (K,); `expected` (n,) is written over.
    """
    expected[:] = 0
    left = 1.0
    for d in range(near.size):
        if near[d] == 0:
            continue
        same = 0.0
        for k in range(share.size):
            same += near[d] * posteriors[d, k] * share[k]
        left -= same
        part, key = unit.dtype.type(same), keys[d]
        for j in range(unit.size):
            expected[j] += part * key[j]
    for j in range(unit.size):
        unit[j] = (1 - gain) * (left * unit[j] + expected[j]) + gain * unit[j]
    length = np.sqrt(dot(unit, unit))
    if length > 0:
        for j in range(unit.size):
            unit[j] /= length


@njit(cache=True, inner=True, makes_arrays=True)
def room_for(posteriors: Any, keys: Any) -> Any:
    """Room for what is computed of one frame, (3, n) in the precision of the keys, and (11, K or frames)."""
    _, depth, n_classes = posteriors.shape
    return np.empty((3, keys.shape[2]), keys.dtype), np.empty((11, max(n_classes, depth)))


@njit(cache=True, makes_arrays=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with an `Observer`; the answers are logarithms of posteriors, at the temperature of the network."""
    room = room_for(state[1], state[0])
    observe(state[:7], None, state[7:], room, rows, answers, gaps, centre, numbers, novel)


@njit(cache=True, inner=True)
def observe(
    window: Any, slow: Any, gate: Any, room: Any, rows: Any, answers: Any, gaps: Any, centre: Any, numbers: Any,
    novel: Any
) -> None:  # fmt: skip
    """Follow frames; `slow` holds the parts and settings that a `LearningObserver` has besides, or is None."""
    keys, posteriors, odds, position, seen, spread, direction = window
    answered, shares, agreement = gate
    memory, kappa, novelty, evidence, gain, sharpness, continuity, given_spread, given_distance, in_frames = numbers
    n_streams, depth, n_classes = posteriors.shape
    vectors, numbers_of_classes = room
    unit, middle, expected = vectors[0], vectors[1], vectors[2]
    near, same = numbers_of_classes[0, :depth], numbers_of_classes[1, :n_classes]
    log_frozen, answer = numbers_of_classes[2, :n_classes], numbers_of_classes[3, :n_classes]
    share, added = numbers_of_classes[4, :n_classes], numbers_of_classes[5, :n_classes]
    at_rest, believed = numbers_of_classes[6, :n_classes], numbers_of_classes[7, :n_classes]
    without, looks = numbers_of_classes[8, :n_classes], numbers_of_classes[9:, :n_classes]
    if slow is not None:
        lessons, means, visits, recent, excess, earned, nearby, calms, (strength, prior_frames, slow_memory) = slow
    # One stream after the other, so that what it remembers stays near the processor for the whole stretch.
    for number in range(rows.shape[0]):
        b, t = number // gaps.shape[0], number % gaps.shape[0]
        row, gap = t * n_streams + b, gaps[t, b]
        fading, frames = np.exp(-gap / memory), frames_of(gap, in_frames)
        logits = answers[row]
        length = sense_one(rows[row], centre, True, unit)
        finite = np.isfinite(length) and all_finite(logits)

        # The units of the stream.
        reach, apart = given_spread, given_distance
        if reach <= 0:
            if finite:
                seen[b, 0] += 1
                spread[b, 0] = next_spread(np.float64(spread[b, 0]), spread_of(logits), np.float64(seen[b, 0]))
            reach = np.float64(spread[b, 0])
            apart = next_distance(unit, finite, seen[b], direction[b])

        # The odds that it is the object of each remembered frame, and what that says about its class.
        same[:] = 0
        for d in range(depth):
            odds[b, d] *= fading
            if not odds[b, d] > FLUSH_BELOW:
                odds[b, d] = 0
                near[d] = 0
                continue
            near[d] = odds[b, d]
            if kappa > 0:
                near[d] *= np.exp(kappa / apart * (np.float64(dot(keys[b, d], unit)) - 1))
                near[d] = near[d] if near[d] > FLUSH_BELOW else 0.0
            for k in range(n_classes):
                same[k] += near[d] * posteriors[b, d, k]

        # The posterior.
        sharp = sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        for k in range(n_classes):
            log_frozen[k] = sharp * logits[k]
        visible = finite and length > 0
        earning = 1.0
        if slow is not None:
            left = np.exp(-gap / slow_memory)
            record = (recent[b], earned[b], nearby[b])
            pass_time(visits[b], lessons[b], *record, calms[b], frames, left, FORGETTING**frames)
            read_means(means[b], visits[b], prior_frames, strength / apart, unit, middle, looks, added)
            of_means = 1.0
            if continuity > 0:
                of_means = weight_of(START_SLOW + RATE_SLOW * earned[b, 0])
                if visible:
                    unit_of_logits = max(reach, SMALLEST_SPREAD)
                    known = min(FORGETTING ** (frames - 1) * agreement[b, 0], 1.0)
                    sums = (earned[b], nearby[b])
                    bet(recent[b], excess[b], shares[b], known, *sums, logits, unit_of_logits, added)
                far = min(max(RATE_FAST * earned[b, 1], -MOST_FAST), MOST_FAST)
                earning = weight_of(START_FAST + far + RATE_NEAR * nearby[b, 0])
            softmax(logits, sharp, at_rest)
            for k in range(n_classes):
                log_frozen[k] += sharpness * of_means * added[k]
        if slow is None:
            _log_softmax(log_frozen)
        else:
            _shares(log_frozen, without)
        _answer(log_frozen, same, novelty, evidence, answer)
        total = _shares(answer, believed)
        if novel.size > 0:
            novel[row] = novelty * np.exp(-total)
        trusted = trust(answered[b], shares[b], agreement[b], logits, visible, frames, continuity)
        trusted *= earning
        if slow is not None:
            lesson = 0.0
            for k in range(n_classes):
                lesson += at_rest[k] * (trusted * believed[k] + (1 - trusted) * without[k])
            lesson = np.sqrt(lesson) if visible else 0.0
            if visible and continuity > 0:
                note(recent[b], excess[b], answered[b, 0] - 1, believed, without, agreement[b, 0])

        # The frame is remembered.
        if finite:
            here = position[b, 0] % depth
            if gain < 1:
                for k in range(n_classes):
                    share[k] = np.exp(min(evidence * (np.log(n_classes) + log_frozen[k]) - total, _LARGEST_SHARE))
                _believe(gain, share, near, posteriors[b], keys[b], unit, expected)
            if slow is not None:
                consolidate(means[b], visits[b], lessons[b, here], posteriors[b, here], keys[b, here])
                lessons[b, here] = lesson
            for j in range(unit.size):
                keys[b, here, j] = unit[j]
            for k in range(n_classes):
                posteriors[b, here, k] = believed[k]
            odds[b, here] = 1
            position[b, 0] = (here + 1) % depth

        # The answer, as far as memory is trusted.
        if trusted < 1:
            of_answer, of_frozen = np.log(trusted), np.log(1 - trusted)
            for k in range(n_classes):
                other, both = of_frozen + log_frozen[k], 0.0
                if slow is not None:
                    both = trusted * believed[k] + (1 - trusted) * without[k]
                if both > _SMALLEST_SHARE:
                    answer[k] = np.log(both)
                else:
                    answer[k] = _log_sum(of_answer + answer[k], other) if trusted > 0 else other
        calm = 1 / sharp if sharp > 0 else 1.0
        for k in range(n_classes):
            answer[k] *= calm
        _log_softmax(answer)
        if slow is not None:  # noqa: SIM102 - what is None is pruned only if nothing else is asked
            if continuity > 0:
                chosen = largest_of(answer)
                plain, left = np.exp(answer[chosen]), np.exp(-calms[b, 0])
                for k in range(n_classes):
                    answer[k] *= left
                _log_softmax(answer)
                if visible:
                    given, so_far = np.exp(answer[chosen]), agreement[b, 0]
                    follow_record(calms[b], earned[b], logits, chosen, plain, given, so_far)
        for k in range(n_classes):
            logits[k] = answer[k]
