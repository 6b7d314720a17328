"""The compiled springs whose F is kept as the last inputs: one call follows a stretch of a stream."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.heads._gate import gate_at_rest, trust
from springback.heads._units import to_unit
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, SMALLEST_DISTANCE


class WindowState(NamedTuple):
    """F as the last inputs and their posteriors: D frames, K classes, n features. All of it is 0 at rest.

    Parameters
    ----------
    keys : NDArray[np.float32]
        The inputs, of unit length if the settings say so, (D, n).
    posteriors : NDArray[np.float64]
        Their posteriors, (D, K).
    odds : NDArray[np.float64]
        What is left of the pull of each input, (D,); 0 where there is none yet.
    position : NDArray[np.int64]
        Where the next frame is written, (1,).
    seen : NDArray[np.float64]
        Frames since rest, (1,).
    direction : NDArray[np.float64]
        Running mean of the directions of the features, (n,).
    answered, shares, agreement : NDArray[Any]
        A `GateState`.
    """

    keys: NDArray[np.float32]
    posteriors: NDArray[np.float64]
    odds: NDArray[np.float64]
    position: NDArray[np.int64]
    seen: NDArray[np.float64]
    direction: NDArray[np.float64]
    answered: NDArray[np.int64]
    shares: NDArray[np.float64]
    agreement: NDArray[np.float64]


def window_at_rest(depth: int, n_classes: int, n_features: int) -> WindowState:
    """The state before the first frame."""
    return WindowState(
        np.zeros((depth, n_features), np.float32),
        np.zeros((depth, n_classes)),
        np.zeros(depth),
        np.zeros(1, np.int64),
        np.zeros(1),
        np.zeros(n_features),
        *gate_at_rest(n_classes),
    )


@njit(cache=True)
def pull_window(
    state: Any, rows: Any, gaps: Any, weight: Any, bias: Any, centre: Any, numbers: Any, unit_inputs: bool
) -> Any:
    """Outputs (T, K) of rows (T, n) before their own pull; moves the state.

    `numbers` are memory, pull, kappa, constant, continuity and tuning of `Springs`, the last -1 for None, and the
    distance of unrelated frames, or 0 to measure it.
    """
    keys, posteriors, odds, position, seen, direction, answered, shares, agreement = state
    memory, pull, kappa, constant, continuity, tuning, given = numbers
    depth, n_classes = posteriors.shape
    outputs = np.empty((rows.shape[0], n_classes))
    for t in range(rows.shape[0]):
        logits = weight @ rows[t] + bias
        key = rows[t] - centre
        length = np.sqrt((key * key).sum())
        if unit_inputs:
            length = to_unit(key, length)
        elif length == 0:
            length = to_unit(key.copy(), length)
        distance = given
        if tuning > 0 and given <= 0:
            seen[0] += 1
            direction += (key - direction) / min(seen[0] + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE)
            distance = max(1 - (direction * direction).sum(), SMALLEST_DISTANCE)
        odds *= np.exp(-gaps[t] / memory)
        alike = (keys @ key).astype(np.float64)
        if tuning >= 0:
            alike = np.exp(tuning / distance * (alike - 1)) if tuning > 0 else np.ones(depth)
        added = pull * ((odds * ((1 - constant) * alike + constant)) @ posteriors)
        told = logits.argmax() if length > 0 else -1
        trusted = trust(answered, shares, agreement, told, gaps[t], continuity)
        outputs[t] = logits + trusted * added
        moved = kappa * (logits + added)
        posterior = np.exp(moved - moved.max())
        here = position[0]
        keys[here] = key
        posteriors[here] = posterior / posterior.sum()
        odds[here] = 1.0
        position[0] = (here + 1) % depth
    return outputs
