"""The compiled observer: one call follows a stretch of a stream."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.heads._gate import gate_at_rest, trust
from springback.heads._units import next_spread, to_unit
from springback.heads.scale import FRAMES_OF_SCALE, FRAMES_UNTIL_SURE, SMALLEST_DISTANCE, SMALLEST_SPREAD


class ObserverState(NamedTuple):
    """What the observer remembers: D frames, K classes, n features.

    Parameters
    ----------
    keys : NDArray[np.float32]
        What each remembered object looked like, of unit length, (D, n).
    posteriors : NDArray[np.float64]
        The answers to the remembered frames, (D, K).
    odds : NDArray[np.float64]
        f(t - t_i) of each remembered frame, (D,); 0 where there is none yet.
    position : NDArray[np.int64]
        Where the next frame is written, (1,).
    seen : NDArray[np.float64]
        Frames since rest, (1,).
    spread : NDArray[np.float64]
        Running mean of the spread of the logits, which no single frame moves far, (1,).
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
    spread: NDArray[np.float64]
    direction: NDArray[np.float64]
    answered: NDArray[np.int64]
    shares: NDArray[np.float64]
    agreement: NDArray[np.float64]


def at_rest(depth: int, n_classes: int, n_features: int) -> ObserverState:
    """The state before the first frame."""
    return ObserverState(
        np.zeros((depth, n_features), np.float32),
        np.zeros((depth, n_classes)),
        np.zeros(depth),
        np.zeros(1, np.int64),
        np.zeros(1),
        np.zeros(1),
        np.zeros(n_features),
        *gate_at_rest(n_classes),
    )


@njit(cache=True)
def observe(
    state: Any,
    rows: Any,
    gaps: Any,
    weight: Any,
    bias: Any,
    centre: Any,
    numbers: Any,
    scale: Any,
    novel: Any,
) -> Any:
    """Answers (T, K) to rows (T, n), at the temperature of the network; moves the state.

    It also writes the probability of something new to novel (T,).

    `numbers` are memory, kappa, novelty, evidence, gain, sharpness and continuity of an `Observer`. `scale` is (spread,
    distance), or zeros to measure them.
    """
    memory, kappa, novelty, evidence, gain, sharpness, continuity = numbers
    keys, posteriors, odds, position, seen, spread, direction, answered, shares, agreement = state
    depth, n_classes = posteriors.shape
    answers = np.empty((rows.shape[0], n_classes))
    power = np.ones(n_classes)
    measured = scale[0] <= 0
    for t in range(rows.shape[0]):
        logits = weight @ rows[t] + bias
        unit = rows[t] - centre
        length = to_unit(unit, np.sqrt((unit * unit).sum()))
        if measured:
            seen[0] += 1
            spread[0] = next_spread(spread[0], np.float64(logits.max()) - np.float64(logits.min()), seen[0])
            direction += (unit - direction) / min(seen[0] + FRAMES_UNTIL_SURE, FRAMES_OF_SCALE)
            reach, distance = spread[0], max(1 - (direction * direction).sum(), SMALLEST_DISTANCE)
        else:
            reach, distance = scale[0], scale[1]
        sharp = sharpness / reach if reach > SMALLEST_SPREAD else 0.0
        frozen = np.exp(sharp * (logits - logits.max()).astype(np.float64))
        frozen /= frozen.sum()
        if evidence > 0:
            power = (n_classes * frozen) ** evidence
        odds *= np.exp(-gaps[t] / memory)
        near = odds.copy()
        if kappa > 0:
            near *= np.exp(kappa / distance * ((keys @ unit).astype(np.float64) - 1))
        same = near * (posteriors @ power)
        total = novelty + same.sum()
        answer = (novelty * frozen + power * (near @ posteriors)) / total
        answer /= answer.sum()
        told = logits.argmax() if length > 0 else -1
        trusted = trust(answered, shares, agreement, told, gaps[t], continuity)
        novel[t] = novelty / total
        mixed = trusted * answer + (1 - trusted) * frozen
        calm = (mixed / mixed.max()) ** (1 / sharp if sharp > 0 else 1.0)
        answers[t] = calm / calm.sum()
        here = position[0]
        believed = unit.copy()
        if gain < 1:
            believed *= np.float32(gain + (1 - gain) * novelty / total)
            believed += ((1 - gain) / total * same).astype(np.float32) @ keys
            length = np.sqrt((believed * believed).sum())
            if length > 0:
                believed /= length
        keys[here] = believed
        posteriors[here] = answer
        odds[here] = 1.0
        position[0] = (here + 1) % depth
    return answers
