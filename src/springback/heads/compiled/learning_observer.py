"""The observer that learns its deployment, compiled."""

from typing import Any

from springback.compiled import njit
from springback.heads.compiled.observer import observe


@njit(cache=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with a `LearningObserver`; the answers are logarithms of posteriors."""
    keys, posteriors, odds, position, seen, spread, direction, lessons, means, visits, recent, excess, earned = state[
        :13
    ]
    window = (keys, posteriors, odds, position, seen, spread, direction)
    observe(window, (lessons, means, visits, recent, excess, earned, numbers[9:]), state[13:], rows, answers, gaps,
            centre, numbers[:9], novel)  # fmt: skip
