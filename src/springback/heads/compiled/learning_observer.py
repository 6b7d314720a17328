"""The observer that learns its deployment, compiled."""

from typing import Any

from springback.compiled import njit
from springback.heads.compiled.observer import observe, room_for


@njit(cache=True, makes_arrays=True)
def follow(
    state: Any, rows: Any, answers: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, novel: Any
) -> None:
    """Follow frames with a `LearningObserver`; the answers are logarithms of posteriors."""
    lessons, means, visits, recent, excess, earned, near, calm = state[7:15]
    slow = (lessons, means, visits, recent, excess, earned, near, calm, numbers[10:])
    room = room_for(state[1], state[0])
    observe(state[:7], slow, state[15:], room, rows, answers, gaps, centre, numbers[:10], novel)
