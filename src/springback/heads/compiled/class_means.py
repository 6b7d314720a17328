"""The means of the classes of a stream, compiled for one stream: what they say, what they earn, and how they learn."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import dot
from springback.heads.earning import ALLOWED, CONTRADICTION, NEAR, RECENT, SMALLEST_LESSON


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


@njit(cache=True, inner=True)
def read_means(
    means: Any, visits: Any, prior_frames: float, per_distance: float, unit: Any, middle: Any, out: Any
) -> None:
    """What the means add to the logits, in spreads of them, into `out` (K,); `middle` (n,) is written over."""
    middle[:] = 0
    total = 0.0
    for k in range(visits.size):
        out[k] = visits[k] / (prior_frames + visits[k])
        total += out[k]
    if total == 0:
        return
    for k in range(visits.size):
        if out[k] > 0:
            share, mean = middle.dtype.type(out[k] / total), means[k]
            for j in range(middle.size):
                middle[j] += share * mean[j]
    of_middle = np.float64(dot(middle, middle))
    along = np.float64(dot(middle, unit)) - of_middle
    for k in range(visits.size):
        if out[k] > 0:
            sure, to_middle = out[k], np.float64(dot(means[k], middle))
            apart = np.float64(dot(means[k], means[k])) - 2 * to_middle + of_middle
            out[k] = per_distance * (sure * (dot(means[k], unit) - to_middle - along) - sure * sure * apart / 2)


@njit(cache=True, inner=True)
def pass_time(
    visits: Any, lessons: Any, recent: Any, earned: Any, near: Any, gap: float, fading: float, forgetting: float
) -> None:
    """What is left of the visits, the lessons, the recent answers and the sums after a gap."""
    for d in range(lessons.size):
        lessons[d] *= fading
    left = RECENT if gap == 1 else RECENT**gap
    for k in range(visits.size):
        visits[k] *= fading
        for stage in range(5):
            recent[stage, k] *= left
    for i in range(2):
        earned[i] *= forgetting
    near[0] *= NEAR if gap == 1 else NEAR**gap


@njit(cache=True, inner=True)
def bet(recent: Any, excess: Any, shares: Any, earned: Any, near: Any, logits: Any, spread: float, added: Any) -> None:
    """The sums after the frozen answer and that with class means are compared, and memory with the frozen answer."""
    frozen, learned, mass = largest_of(logits), 0, 0.0
    best, usual = -np.inf, 0.0
    for k in range(shares.size):
        mass += recent[1, k]
        usual += recent[4, k] * shares[k]
        if logits[k] / spread + added[k] > best:
            learned, best = k, logits[k] / spread + added[k]
    earned[0] += recent[1, learned] - recent[1, frozen] - mass * (shares[learned] - shares[frozen])
    earned[0] += CONTRADICTION * (ALLOWED * (1 - shares[frozen]) - (1.0 if learned != frozen else 0.0))
    earned[1] += recent[3, frozen] - mass * excess[frozen]
    near[0] += recent[4, frozen] - usual


@njit(cache=True, inner=True)
def note(recent: Any, excess: Any, frozen: int, answer: Any, without: Any, frames: float) -> None:
    """The answers of a frame: that of the frozen head, and logarithms of posteriors with and without memory."""
    remembered = largest_of(answer)
    for k in range(excess.size):
        of_frozen = 1.0 if k == frozen else 0.0
        differ = (1.0 if k == remembered else 0.0) - of_frozen
        excess[k] += (differ - excess[k]) / frames
        recent[0, k] += (1 - RECENT) * of_frozen
        recent[1, k] += (1 - RECENT) * recent[0, k]
        recent[2, k] += (1 - RECENT) * differ
        recent[3, k] += (1 - RECENT) * recent[2, k]
        recent[4, k] = np.exp(answer[k]) - np.exp(without[k])


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
