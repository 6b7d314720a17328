"""The means of the classes of a stream, compiled for one stream: what they say, what they earn, and how they learn."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import dot
from springback.heads.earning import (
    ALLOWED,
    CONTRADICTION,
    ENOUGH,
    FRAMES_CALM,
    MOST_CALM,
    MOST_SHARP,
    NEAR,
    RATE_CALM,
    RECENT,
    SMALLEST_LESSON,
)


@njit(cache=True, inner=True)
def weight_of(log_odds: float) -> float:
    """The weight of an expert, 0 ... 1."""
    return float(1 / (1 + np.exp(-log_odds)))


@njit(cache=True, inner=True)
def largest_of(row: Any) -> int:
    """The number of the largest entry, the first of several."""
    best = 0
    for k in range(row.size):
        if row[k] > row[best]:
            best = k
    return best


@njit(cache=True, inner=True, fastmath={"contract", "reassoc"})
def _look_at(
    means: Any, a: int, b: int, c: int, d: int, of_a: float, of_b: float, of_c: float, of_d: float, unit: Any,
    middle: Any, seen: Any
) -> None:  # fmt: skip
    """Adds shares of the means of four classes to the middle; their products with `unit` and with themselves."""
    own = means.dtype.type
    first, second, third, fourth = means[a], means[b], means[c], means[d]
    part_a, part_b, part_c, part_d = own(of_a), own(of_b), own(of_c), own(of_d)
    to_a = to_b = to_c = to_d = own(0)
    all_a = all_b = all_c = all_d = own(0)
    for j in range(unit.size):
        x = unit[j]
        middle[j] += part_a * first[j] + part_b * second[j] + part_c * third[j] + part_d * fourth[j]
        to_a += first[j] * x
        to_b += second[j] * x
        to_c += third[j] * x
        to_d += fourth[j] * x
        all_a += first[j] * first[j]
        all_b += second[j] * second[j]
        all_c += third[j] * third[j]
        all_d += fourth[j] * fourth[j]
    seen[0, a], seen[0, b], seen[0, c], seen[0, d] = to_a, to_b, to_c, to_d
    seen[1, a], seen[1, b], seen[1, c], seen[1, d] = all_a, all_b, all_c, all_d


@njit(cache=True, inner=True)
def _next_visited(sure: Any, after: int) -> int:
    """The next class after this one that was ever taught; -1 if there is none."""
    for k in range(after + 1, sure.size):
        if sure[k] > 0:
            return k
    return -1


@njit(cache=True, inner=True)
def read_means(
    means: Any, visits: Any, prior_frames: float, per_distance: float, unit: Any, middle: Any, seen: Any, out: Any
) -> None:
    """What the means add to the logits, in spreads of them, into `out` (K,).

    `middle` (n,) and `seen` (2, K) are written over.
    """
    middle[:] = 0
    total = 0.0
    for k in range(visits.size):
        out[k] = visits[k] / (prior_frames + visits[k])
        total += out[k]
    if total == 0:
        return
    a = _next_visited(out, -1)
    while a >= 0:
        b = _next_visited(out, a)
        c = _next_visited(out, b) if b >= 0 else -1
        d = _next_visited(out, c) if c >= 0 else -1
        of_b, of_c, of_d = out[b] if b >= 0 else 0.0, out[c] if c >= 0 else 0.0, out[d] if d >= 0 else 0.0
        parts = (out[a] / total, of_b / total, of_c / total, of_d / total)
        _look_at(means, a, b if b >= 0 else a, c if c >= 0 else a, d if d >= 0 else a, *parts, unit, middle, seen)
        a = _next_visited(out, d) if d >= 0 else -1
    of_middle = np.float64(dot(middle, middle))
    along = np.float64(dot(middle, unit)) - of_middle
    for k in range(visits.size):
        if out[k] > 0:
            sure, to_middle = out[k], np.float64(dot(means[k], middle))
            apart = seen[1, k] - 2 * to_middle + of_middle
            out[k] = per_distance * (sure * (seen[0, k] - to_middle - along) - sure * sure * apart / 2)


@njit(cache=True, inner=True)
def pass_time(
    visits: Any, lessons: Any, recent: Any, earned: Any, near: Any, calm: Any, frames: float, fading: float,
    forgetting: float
) -> None:  # fmt: skip
    """What is left of the visits, the lessons, the recent answers, the sums and the temperature after a gap."""
    for d in range(lessons.size):
        lessons[d] *= fading
    left = RECENT if frames == 1 else RECENT**frames
    for k in range(visits.size):
        visits[k] *= fading
    for stage in range(recent.shape[0]):
        for k in range(visits.size):
            recent[stage, k] *= left
    for i in range(earned.size):
        earned[i] *= forgetting
    near[0] *= NEAR if frames == 1 else NEAR**frames
    calm[0] *= fading


@njit(cache=True, inner=True)
def bet(
    recent: Any, excess: Any, shares: Any, known: float, earned: Any, near: Any, logits: Any, spread: float, added: Any
) -> None:
    """The sums after the frozen answer and that with class means are compared, and memory with the frozen answer.

    `known` is how far the shares of the classes among the frozen answers are known, 0 ... 1.
    """
    frozen, learned, mass = largest_of(logits), 0, 0.0
    best, usual = -np.inf, 0.0
    for k in range(shares.size):
        mass += recent[1, k]
        usual += recent[4, k] * known * shares[k]
        if logits[k] / spread + added[k] > best:
            learned, best = k, logits[k] / spread + added[k]
    earned[0] += recent[1, learned] - recent[1, frozen] - mass * known * (shares[learned] - shares[frozen])
    earned[0] += CONTRADICTION * (ALLOWED * (1 - known * shares[frozen]) - (1.0 if learned != frozen else 0.0))
    earned[1] += recent[3, frozen] - mass * excess[frozen]
    earned[2] += recent[3, frozen]
    earned[3] += recent[6, frozen]
    near[0] += recent[4, frozen] - usual


@njit(cache=True, inner=True)
def note(recent: Any, excess: Any, frozen: int, believed: Any, without: Any, frames: float) -> None:
    """The answers of a frame: that of the frozen head, and posteriors with and without memory."""
    remembered = largest_of(believed)
    for k in range(excess.size):
        of_frozen = 1.0 if k == frozen else 0.0
        of_memory = 1.0 if k == remembered else 0.0
        differ = of_memory - of_frozen
        excess[k] += (differ - excess[k]) / frames
        recent[0, k] += (1 - RECENT) * of_frozen
        recent[1, k] += (1 - RECENT) * recent[0, k]
        recent[2, k] += (1 - RECENT) * differ
        recent[3, k] += (1 - RECENT) * recent[2, k]
        recent[4, k] = believed[k] - without[k]
        recent[5, k] += (1 - RECENT) * abs(differ)
        recent[6, k] += (1 - RECENT) * recent[5, k]


@njit(cache=True, inner=True)
def follow_record(calm: Any, earned: Any, logits: Any, chosen: int, plain: float, given: float, frames: float) -> None:
    """The temperature after an answer with the probability `given`, which would be `plain` at that of the network."""
    frozen, total = largest_of(logits), 0.0
    for k in range(logits.size):
        total += np.exp(logits[k] - logits[frozen])
    record = min(max(2 * earned[2] / (earned[3] + ENOUGH), 0.0), 1.0)
    wanted = record * plain + (1 - record) * (1 / total if chosen == frozen else 1 - 1 / total)
    calm[0] += RATE_CALM / (frames + FRAMES_CALM) * (given - wanted)
    calm[0] = min(max(calm[0], MOST_SHARP), MOST_CALM)


@njit(cache=True, inner=True)
def consolidate(means: Any, visits: Any, lesson: float, posterior: Any, key: Any) -> None:
    """A frame leaves the window and moves the means of the classes that it may have shown."""
    for k in range(visits.size):
        taught = lesson * (posterior[k] - SMALLEST_LESSON)
        if taught > 0:
            visits[k] += taught
            part, mean = means.dtype.type(taught / visits[k]), means[k]
            for j in range(key.size):
                mean[j] += part * (key[j] - mean[j])
