"""The compiled gate: how far a stream trusts its memory, given how continuous it has been."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM


@njit(cache=True, inner=True)
def frames_of(gap: float, in_frames: float) -> float:
    """How many frames a gap is: at least one, and of a memory in time always one."""
    return max(gap, 1.0) if in_frames > 0 else 1.0


@njit(cache=True, inner=True)
def trust(answered: Any, shares: Any, agreement: Any, logits: Any, seen: bool, gap: float, continuity: float) -> float:
    """How far the memory counts for a frame with these logits at rest, 0 ... 1; moves the `Gate` of one stream.

    `gap` counts the frames since the one before. Where a frame was not `seen`, because it is all zero or not finite,
    only time passes.
    """
    if continuity == 0:
        return 1.0
    left = FORGETTING ** (gap - 1) if gap != 1 else 1.0
    known = min(left * agreement[0], 1.0)
    for i in range(3):
        agreement[i] *= left * FORGETTING
    if seen:
        answer = 0
        for k in range(logits.size):
            if logits[k] > logits[answer]:
                answer = k
        beyond = known * ((1.0 if answered[0] == answer + 1 else 0.0) - shares[answer])
        agreement[0] += 1
        agreement[1] += beyond
        agreement[2] += beyond * beyond
        for k in range(shares.size):
            shares[k] -= shares[k] / agreement[0]
        shares[answer] += 1 / agreement[0]
        answered[0] = answer + 1
    errors = (agreement[1] + PRIOR_SUM) / np.sqrt(agreement[2] + PRIOR_SQUARES)
    return float(min(max(errors / continuity - 1, 0.0), 1.0))
