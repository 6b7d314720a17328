"""The response to a frame from the short-term part as a matrix; nothing moves. What moves it is in `_dense`.

It is apart because it is all that `fit` and `predict` need, so that they do not wait until the rest is compiled.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.elastic._inference import biases, find_lit, infer, weighted_rows
from springback.elastic.params import Constants


class Scratch(NamedTuple):
    """Room for what is computed of one frame, which means nothing between two calls; few arrays, since each costs time.

    What their rows hold is said by `ScratchRows`: `places` (2, n or K), `value` (n,), `single` (3 + 2 M, K) in the
    precision of the model, `double` (6 + M, K).
    """

    places: NDArray[np.int64]
    value: NDArray[Any]
    single: NDArray[Any]
    double: NDArray[np.float64]


class ScratchRows(NamedTuple):
    """The rows of `Scratch` by name.

    Parameters
    ----------
    lit, chosen : NDArray[np.int64]
        The lit features and the pulled centroids.
    value : NDArray[Any]
        The lit features, (n,).
    drive, cosine, squared_pull : NDArray[Any]
        W.x, the cosines and |pull|^2, (K,).
    short, amount : NDArray[Any]
        stored[m].x and the pull, (M, K).
    prior, bias, recent, strength : NDArray[np.float64]
        Prior and bias now, the recent responsibility, the strength of the pull, (K,).
    dot, squared : NDArray[np.float64]
        G.x and |G|^2, (K,).
    pulled : NDArray[np.float64]
        The pull in double precision, (M, K).
    """

    lit: NDArray[np.int64]
    chosen: NDArray[np.int64]
    value: NDArray[Any]
    drive: NDArray[Any]
    cosine: NDArray[Any]
    squared_pull: NDArray[Any]
    short: NDArray[Any]
    amount: NDArray[Any]
    prior: NDArray[np.float64]
    bias: NDArray[np.float64]
    recent: NDArray[np.float64]
    strength: NDArray[np.float64]
    dot: NDArray[np.float64]
    squared: NDArray[np.float64]
    pulled: NDArray[np.float64]


def scratch_of(constants: Constants) -> Scratch:
    """Room for the frames of one call, or of one stream."""
    n, k = constants.by_feature.shape
    m, own = len(constants.weights), constants.by_feature.dtype
    # Zeros, because stored[m].x is never computed if nothing pulls.
    single, double = np.zeros((3 + 2 * m, k), own), np.empty((6 + m, k))
    double[0], double[1] = constants.prior, constants.bias
    return Scratch(np.empty((2, max(n, k)), np.int64), np.empty(n, own), single, double)


@njit(cache=True, inline="always")
def named(scratch: Any, n_terms: int) -> Any:
    """The rows of a `Scratch` by name, for a decay of `n_terms` exponentials."""
    places, value, single, double = scratch
    short, amount = single[3 : 3 + n_terms], single[3 + n_terms :]
    return ScratchRows(
        places[0], places[1], value, single[0], single[1], single[2], short, amount,
        double[0], double[1], double[2], double[3], double[4], double[5], double[6:],
    )  # fmt: skip


@njit(cache=True, inner=True, fastmath={"contract"})
def _add(total: Any, factor: float, row: Any) -> None:
    for k in range(total.size):
        total[k] += factor * row[k]


@njit(cache=True, inner=True, error_model="numpy")
def _cosines(dot: Any, squared: Any, length: float, u: Any) -> None:
    """The cosine u = G.x / (|G| |x|); 0 where G is all zero."""
    for k in range(u.size):
        # Choices between numbers, without a check for a division by zero, are done for many centroids at a time.
        some = squared[k] > 0
        cosine = dot[k] / (np.sqrt(squared[k] if some else 1.0) * length)
        cosine = cosine if cosine > -1.0 else -1.0
        cosine = cosine if cosine < 1.0 else 1.0
        u[k] = cosine if some else 0.0


@njit(cache=True, inner=True)
def _similarities(weights: Any, scale: Any, resting_overlap: Any, overlap: Any, short: Any, dot: Any,
                  squared: Any) -> None:  # fmt: skip
    """Add the short-term part to `dot` = W.x and `squared` = |W|^2, which become G.x and |G|^2."""
    for m in range(scale.size):
        a = weights[m] * scale[m]
        _add(dot, a, short[m])
        _add(squared, 2 * a, resting_overlap[m])
        for other in range(scale.size):
            _add(squared, a * weights[other] * scale[other], overlap[m, other])


@njit(cache=True, inner=True)
def any_above_zero(row: Any) -> bool:
    """Whether any number is above zero; quicker to compile than NumPy's largest."""
    found = False
    for k in range(row.size):
        found |= row[k] > 0
    return found


@njit(cache=True, inner=True)
def expect(constants: Any, state: Any, rows: Any) -> None:
    """Write prior and bias of every centroid after the recent past into `ScratchRows`."""
    recent, total = rows.recent, 0.0
    recent[:] = 0
    for m in range(state.scale.size):
        a = constants.weights[m] * state.scale[m]
        total += a * state.total[m]
        for k in range(recent.size):
            recent[k] += a * state.responsibility[m, k]
    biases(constants, recent, total, rows.prior, rows.bias)


@njit(cache=True, inline="always")
def read_frame(constants: Any, state: Any, rows: Any, pulls: bool, x: Any, posterior: Any) -> Any:
    """The response to one frame x (n,): its posterior into (K,), and the rest into `ScratchRows`.

    Returns how many features are lit, |x|^2, the largest cosine, the log density, and whether any centroid answers. It
    is only ever compiled as a part of the two loops that contain it.
    """
    index, value, drive, u, short = rows.lit, rows.value, rows.drive, rows.cosine, rows.short
    prior, bias, dot, squared = rows.prior, rows.bias, rows.dot, rows.squared
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
    rows = named(scratch, state.scale.size)
    if moving is not None:
        expect(constants, state, rows)
    for t in range(frames.shape[0]):
        _, _, best[t], log_density[t], _ = read_frame(constants, state, rows, pulls, frames[t], posterior[t])
