"""Springs with a pull and a decay of each unit or synapse, compiled."""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.heads.compiled.frame import FLUSH_BELOW, dot, sense_one, softmax


@njit(cache=True, inner=True, fastmath={"contract", "reassoc"})
def _relaxed_dot(row: Any, left: Any, direction: Any) -> Any:
    """(left row) . direction, where left has one number or as many as the row."""
    if left.size == 1:
        return left[0] * dot(row, direction)
    total = row.dtype.type(0)
    for j in range(row.size):
        total += left[j] * row[j] * direction[j]
    return total


@njit(cache=True, inner=True)
def _relax_and_pull(row: Any, left: Any, pull: Any, posterior: Any, direction: Any) -> None:
    """F_k <- left F_k + posterior pull x."""
    own = row.dtype.type
    nothing, tiny, share = own(0), own(FLUSH_BELOW), own(posterior)
    if left.size == 1:
        decay, amount = left[0], share * pull[0]
        for j in range(row.size):
            pulled = decay * row[j] + amount * direction[j]
            row[j] = pulled if abs(pulled) > tiny else nothing
    else:
        for j in range(row.size):
            pulled = left[j] * row[j] + share * pull[j] * direction[j]
            row[j] = pulled if abs(pulled) > tiny else nothing


@njit(cache=True, makes_arrays=True)
def follow(
    short_term: Any, rows: Any, answers: Any, left: Any, pull: Any, centre: Any, kappa: float, unit_inputs: bool
) -> None:
    """Follow one frame (B, n) of all streams; the outputs at rest (B, K) become the answers."""
    n_streams, n_units = answers.shape
    direction, posterior = np.empty(rows.shape[1], rows.dtype), np.empty(n_units)
    for b in range(n_streams):
        finite = np.isfinite(sense_one(rows[b], centre, unit_inputs, direction))
        for k in range(n_units):
            answers[b, k] += _relaxed_dot(short_term[b, k], left[k], direction)
        softmax(answers[b], kappa, posterior)
        for k in range(n_units):
            _relax_and_pull(short_term[b, k], left[k], pull[k], posterior[k] if finite else 0.0, direction)
