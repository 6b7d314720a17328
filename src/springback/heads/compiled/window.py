"""Springs with a window of inputs, compiled."""

from typing import Any

from springback.compiled import njit
from springback.heads.compiled.pull import pull_along


@njit(cache=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with `WindowSprings`; the answers are logits."""
    keys, strengths, odds, position, responsibility, total, seen, mean, answered, shares, agreement = state
    window = (keys, strengths, odds, position, seen, mean)
    others = (responsibility, total, answered, shares, agreement)
    pull_along(None, window, others, rows, answers, gaps, weight, bias, centre, numbers)
