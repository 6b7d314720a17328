"""Springs, compiled."""

from typing import Any

from springback.compiled import njit
from springback.heads.compiled.pull import pull_along


@njit(cache=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with `Springs`; the answers are logits."""
    short_term, responsibility, total, answered, shares, agreement = state
    others = (responsibility, total, answered, shares, agreement)
    pull_along(short_term, None, others, rows, answers, gaps, weight, bias, centre, numbers)
