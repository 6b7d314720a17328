"""The compiled gate: how far a head trusts its memory, given how continuous the stream has been."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM


class GateState(NamedTuple):
    """What the gate remembers of the answers of the frozen head; K classes. All of it is 0 at rest.

    Parameters
    ----------
    answered : NDArray[np.int64]
        The last answer, counted from 1, (1,).
    shares : NDArray[np.float64]
        Running share of each class among the answers, (K,).
    agreement : NDArray[np.float64]
        The number of frames and the sums S and V of `springback.heads.continuity`, all with forgetting, (3,).
    """

    answered: NDArray[np.int64]
    shares: NDArray[np.float64]
    agreement: NDArray[np.float64]


def gate_at_rest(n_classes: int) -> GateState:
    """The state before the first frame."""
    return GateState(np.zeros(1, np.int64), np.zeros(n_classes), np.zeros(3))


@njit(cache=True)
def trust(answered: Any, shares: Any, agreement: Any, answer: int, gap: float, continuity: float) -> float:
    """How far the memory counts for a frame with this frozen answer, 0 ... 1; moves the state of the gate.

    `gap` is the time since the frame before. An answer of -1 is that to an all-zero frame, which shows nothing.
    """
    if continuity == 0:
        return 1.0
    if gap != 1:
        agreement *= FORGETTING ** (gap - 1)
    known = min(agreement[0], 1.0)
    agreement *= FORGETTING
    if answer >= 0:
        beyond = known * ((1.0 if answer + 1 == answered[0] else 0.0) - shares[answer])
        agreement[0] += 1
        agreement[1] += beyond
        agreement[2] += beyond * beyond
        shares -= shares / agreement[0]
        shares[answer] += 1 / agreement[0]
        answered[0] = answer + 1
    errors = (PRIOR_SUM + agreement[1]) / np.sqrt(PRIOR_SQUARES + agreement[2])
    return float(min(max(errors / continuity - 1, 0.0), 1.0))
