"""The gate of `_gate` for one stream, compiled."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.continuity import FORGETTING, PRIOR_SQUARES, PRIOR_SUM


@njit(cache=True)
def judge_one(logits: Any, seen: bool, continuity: float, answered: Any, shares: Any, agreement: Any) -> float:
    """How far the memory of one stream counts, 0 ... 1; moves its `answered` (1,), `shares` (K,) and `agreement` (3,).

    Where a frame was not `seen`, because it is all zero or not finite, only time passes.
    """
    if continuity == 0:
        return 1.0
    known = min(np.float64(agreement[0]), 1.0)
    for i in range(3):
        agreement[i] *= FORGETTING
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


@njit(cache=True)
def silence_one(gap: float, agreement: Any) -> None:
    """What a frame that comes `gap` frames after the last finds of `agreement` (3,), beyond one frame."""
    if gap != 1:
        left = FORGETTING ** (gap - 1)
        for i in range(3):
            agreement[i] *= left
