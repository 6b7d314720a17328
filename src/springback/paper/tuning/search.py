"""A small, seeded search over parameters: half at random, half near the best so far."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np


class Range(NamedTuple):
    """Where a parameter may lie; `log` draws it evenly on a logarithmic scale."""

    low: float
    high: float
    log: bool = False


class Trial(NamedTuple):
    """One point that was tried, and how it scored (higher is better)."""

    values: dict[str, float]
    score: float


def search(
    space: Mapping[str, Range],
    score: Callable[[dict[str, float]], float],
    *,
    n_trials: int,
    seed: int = 0,
    start: dict[str, float] | None = None,
) -> Iterator[Trial]:
    """Try `n_trials` points one after the other, yielding each as it is scored.

    The first is `start`, if given. One in four is drawn from the whole space, the others near the best so far, ever
    nearer.

    Examples
    --------
    >>> trials = list(search({"x": Range(-4, 4)}, lambda at: -abs(at["x"] - 1), n_trials=40, seed=0))
    >>> abs(max(trials, key=lambda one: one.score).values["x"] - 1) < 0.2
    True
    """
    rng = np.random.default_rng(seed)
    best: Trial | None = None
    for number in range(n_trials):
        if number == 0 and start is not None:
            best = Trial(start, score(start))
            yield best
            continue
        width = 0.25 * (1 - number / n_trials) + 0.03
        values = {}
        for name, span in space.items():
            low, high = (math.log(span.low), math.log(span.high)) if span.log else (span.low, span.high)
            if best is None or number % 4 == 0:
                at = rng.uniform(low, high)
            else:
                centre = math.log(best.values[name]) if span.log else best.values[name]
                at = float(np.clip(rng.normal(centre, width * (high - low)), low, high))
            values[name] = math.exp(at) if span.log else float(at)
        trial = Trial(values, score(values))
        if best is None or trial.score > best.score:
            best = trial
        yield trial
