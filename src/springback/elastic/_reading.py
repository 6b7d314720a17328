"""The response to a frame from the short-term part as a matrix; nothing moves. What moves it is in `_dense`.

It is apart because it is all that `fit` and `predict` need, so that they do not wait until the rest is compiled.
"""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.elastic._inference import biases, find_lit, infer, weighted_rows


@njit(cache=True, fastmath={"contract"})
def _add(total: Any, factor: float, row: Any) -> None:
    for k in range(total.size):
        total[k] += factor * row[k]


@njit(cache=True, error_model="numpy")
def _cosines(dot: Any, squared: Any, length: float, u: Any) -> None:
    """The cosine u = G.x / (|G| |x|); 0 where G is all zero."""
    for k in range(u.size):
        # Choices between numbers, without a check for a division by zero, are done for many centroids at a time.
        some = squared[k] > 0
        cosine = dot[k] / (np.sqrt(squared[k] if some else 1.0) * length)
        cosine = cosine if cosine > -1.0 else -1.0
        cosine = cosine if cosine < 1.0 else 1.0
        u[k] = cosine if some else 0.0


@njit(cache=True)
def _similarities(weights: Any, scale: Any, resting_overlap: Any, overlap: Any, short: Any, dot: Any,
                  squared: Any) -> None:  # fmt: skip
    """Add the short-term part to `dot` = W.x and `squared` = |W|^2, which become G.x and |G|^2."""
    for m in range(scale.size):
        a = weights[m] * scale[m]
        _add(dot, a, short[m])
        _add(squared, 2 * a, resting_overlap[m])
        for other in range(scale.size):
            _add(squared, a * weights[other] * scale[other], overlap[m, other])


@njit(cache=True)
def any_above_zero(row: Any) -> bool:
    """Whether any number is above zero; quicker to compile than NumPy's largest."""
    found = False
    for k in range(row.size):
        found |= row[k] > 0
    return found


@njit(cache=True)
def expect(constants: Any, state: Any, double: Any) -> None:
    """Write prior and bias of every centroid after the recent past into the first rows of `Scratch.double`."""
    recent, total = double[2], 0.0
    recent[:] = 0
    for m in range(state.scale.size):
        a = constants.weights[m] * state.scale[m]
        total += a * state.total[m]
        for k in range(recent.size):
            recent[k] += a * state.responsibility[m, k]
    biases(constants, recent, total, double[0], double[1])


@njit(cache=True, inline="always")
def read_frame(constants: Any, state: Any, scratch: Any, pulls: bool, x: Any, posterior: Any) -> Any:
    """The response to one frame x (n,): its posterior into (K,), and what `Scratch` says of it.

    Returns how many features are lit, |x|^2, the largest cosine, the log density, and whether any centroid answers. It
    is only ever compiled as a part of the two loops that contain it.
    """
    places, value, single, double = scratch
    index, drive, u, short = places[0], single[0], single[1], single[3:]
    prior, bias, dot, squared = double[0], double[1], double[4], double[5]
    count, length_squared = find_lit(x, index, value)
    if count == 0:
        for k in range(prior.size):
            posterior[k] = prior[k]
        return count, length_squared, u.dtype.type(0), np.nan, False
    weighted_rows(constants.by_feature, index, value, count, drive)
    if pulls:
        for m in range(state.scale.size):
            weighted_rows(state.stored[m], index, value, count, short[m])
    for k in range(prior.size):
        dot[k] = drive[k]
        squared[k] = constants.norm_squared[k]
    _similarities(constants.weights, state.scale, state.resting_overlap, state.overlap, short, dot, squared)
    _cosines(dot, squared, np.sqrt(length_squared), u)
    top, log_density, answers = infer(
        constants.kappa, constants.linear, constants.inference, constants.log_normaliser, u, prior, bias, posterior
    )
    return count, length_squared, top, log_density, answers


@njit(cache=True)
def read_dense(constants: Any, state: Any, scratch: Any, moving: Any, frames: Any, posterior: Any, best: Any,
               log_density: Any) -> None:  # fmt: skip
    """The response to each of the frames (T, n) as if it came now; `moving` is None if biases rest."""
    pulls = any_above_zero(constants.gain)
    if moving is not None:
        expect(constants, state, scratch.double)
    for t in range(frames.shape[0]):
        _, _, best[t], log_density[t], _ = read_frame(constants, state, scratch, pulls, frames[t], posterior[t])
