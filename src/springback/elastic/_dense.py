"""The short-term part as a matrix, relaxed by recursion: exponential kernels, cost independent of the past.

This is the sum over the past of Eqs. S24 and S70 as the recursion of Algorithm 1: relax (Eq. S89), infer, pull (Eq.
S88; weight-dependent: Eq. S103).

`F = sum_m weights[m] * scale[m] * stored[m]`, kept feature by feature like the resting centroids, so that a frame reads
and writes only the rows of its lit features. Relaxing multiplies only `scale`; a pull adds to `stored` what it adds to
F, divided by `scale`; from time to time the scale is folded into the matrix. The length of `G = W + F` is updated and
not recomputed: `|G|^2 = |W|^2 + 2 W.F + |F|^2`, whose last two terms change by known amounts in a pull and decay in
between, so that rounding errors decay with them.

Not pulling centroids with a posterior of at most `pull_threshold` changes a row of F, for the same posteriors
otherwise, by at most `gain * pull_threshold * sum_i f(t - t_i) / f(0) * |x_i|` (|x_i| = 1 for unit inputs).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.elastic._reading import any_above_zero, expect, named, read_frame
from springback.elastic.params import Constants
from springback.streaming.pace import CLOCK

_FOLD_BELOW = 1e-18
_FLUSH_BELOW = 1e-30


class DenseState(NamedTuple):
    """Short-term state; K centroids, n features, M exponentials. All but `clock` in units of `scale`.

    Parameters
    ----------
    stored : NDArray[Any]
        (M, n, K).
    scale : NDArray[np.float64]
        (M,).
    resting_overlap : NDArray[np.float64]
        W_k . stored_mk, (M, K).
    overlap : NDArray[np.float64]
        stored_mk . stored_lk, (M, M, K).
    responsibility : NDArray[np.float64]
        Sum of past posteriors with decay, (M, K).
    total : NDArray[np.float64]
        Sum of the decay over past inputs, (M,).
    clock : NDArray[np.float64]
        (CLOCK,): the time of the last frame in the unit of the memory, NaN before the first, and then the pace of the
        stream, see `springback.streaming.pace`.
    """

    stored: NDArray[Any]
    scale: NDArray[np.float64]
    resting_overlap: NDArray[np.float64]
    overlap: NDArray[np.float64]
    responsibility: NDArray[np.float64]
    total: NDArray[np.float64]
    clock: NDArray[np.float64]


def init_dense(constants: Constants) -> DenseState:
    """A state at rest."""
    n, k = constants.by_feature.shape
    m = len(constants.weights)
    return DenseState(
        stored=np.zeros((m, n, k), constants.by_feature.dtype),
        scale=np.ones(m),
        resting_overlap=np.zeros((m, k)),
        overlap=np.zeros((m, m, k)),
        responsibility=np.zeros((m, k)),
        total=np.zeros(m),
        clock=np.full(CLOCK, np.nan),
    )


def short_term_dense(constants: Constants, state: DenseState) -> NDArray[np.float64]:
    """F, (K, n)."""
    return np.asarray(np.einsum("m,mnk->kn", constants.weights * state.scale, state.stored.astype(np.float64)))


def moving(constants: Constants) -> bool | None:
    """Whether the recent past moves the biases: True, or None."""
    return True if constants.beta > 0 else None


@njit(cache=True, inner=True)
def _fold(scale: float, stored: Any) -> None:
    """Multiply what is stored (n, K) by its scale."""
    tiny = _FLUSH_BELOW / scale if scale > 0 else np.inf
    small, zero = stored.dtype.type(scale), stored.dtype.type(0)
    for j in range(stored.shape[0]):
        for k in range(stored.shape[1]):
            # Without this, old values become denormal numbers, which slow down every later frame.
            stored[j, k] = stored[j, k] * small if abs(stored[j, k]) > tiny else zero


@njit(cache=True, inner=True)
def _relax(memories: Any, state: Any, elapsed: float) -> None:
    # F decays by one factor for each exponential, so a silent step costs nothing per centroid. The factor is written
    # into the arrays only before dividing by it could overflow.
    for m in range(state.scale.size):
        state.scale[m] *= np.exp(-elapsed / memories[m])
        if state.scale[m] >= _FOLD_BELOW:
            continue
        scale = state.scale[m]
        _fold(scale, state.stored[m])
        for k in range(state.resting_overlap.shape[1]):
            state.resting_overlap[m, k] *= scale
            state.responsibility[m, k] *= scale
            for other in range(state.scale.size):
                state.overlap[m, other, k] *= scale
                state.overlap[other, m, k] *= scale
        state.total[m] *= scale
        state.scale[m] = 1.0


@njit(cache=True)
def relax_dense(memories: Any, state: Any, elapsed: float) -> None:
    """Let time pass, in place."""
    _relax(memories, state, elapsed)
    state.clock[0] += elapsed


@njit(cache=True, inner=True, fastmath={"contract"})
def _products_of_weighted_pull(theta: Any, by_feature: Any, stored: Any, index: Any, value: Any, count: int,
                               with_resting: Any, squared: Any, short: Any) -> None:  # fmt: skip
    """W.p, |p|^2 and stored[m].p for the weight-dependent pull p = theta x, replacing those of x."""
    with_resting[:] = 0
    squared[:] = 0
    short[: stored.shape[0]] = 0
    for i in range(count):
        j = index[i]
        for k in range(with_resting.size):
            part = theta[j, k] * value[i]
            with_resting[k] += part * by_feature[j, k]
            squared[k] += part * part
        for m in range(stored.shape[0]):
            for k in range(with_resting.size):
                short[m, k] += theta[j, k] * value[i] * stored[m, j, k]


@njit(cache=True, inner=True)
def _choose(gain: Any, posterior: Any, threshold: float, unit: float, strength: Any, chosen: Any) -> Any:
    """How strongly each centroid is pulled; lists those that are pulled, and returns how many there are."""
    count = np.int64(0)
    for k in range(strength.size):
        strength[k] = gain[k] * posterior[k] * unit if posterior[k] > threshold else 0.0
    for k in range(strength.size):
        chosen[count] = k
        count += posterior[k] > threshold
    return count


@njit(cache=True, inner=True)
def _amounts(strength: Any, scale: float, pulled: Any, amount: Any) -> None:
    """The pull in units of `scale`, in both precisions."""
    inverse = 1.0 / scale
    for k in range(strength.size):
        pulled[k] = strength[k] / scale
        amount[k] = strength[k] * inverse


@njit(cache=True, inner=True, fastmath={"contract"})
def _add_overlap(a: Any, b: Any, short_a: Any, short_b: Any, squared: Any, overlap: Any) -> None:
    for k in range(overlap.size):
        overlap[k] += a[k] * short_b[k] + b[k] * short_a[k] + a[k] * b[k] * squared[k]


@njit(cache=True, inner=True, fastmath={"contract"})
def _add_resting_overlap(pulled: Any, with_resting: Any, resting_overlap: Any) -> None:
    for k in range(pulled.size):
        resting_overlap[k] += pulled[k] * with_resting[k]


@njit(cache=True, inner=True, fastmath={"contract"})
def _pull(stored: Any, theta: Any, index: Any, value: Any, count: int, chosen: Any, n_chosen: int,
          amount: Any) -> None:  # fmt: skip
    """Add amount (theta) x to stored (n, K)."""
    for i in range(count):
        j, x = index[i], value[i]
        row = stored[j]
        if theta.size > 0:
            own = theta[j]
            for k in range(row.size):
                row[k] += amount[k] * own[k] * x
        elif n_chosen * 8 < row.size:
            # Few centroids: scattered writes are cheaper than a vectorised pass over the whole row.
            for c in range(n_chosen):
                row[chosen[c]] += amount[chosen[c]] * x
        else:
            for k in range(row.size):
                row[k] += amount[k] * x


@njit(cache=True)
def run_dense(constants: Any, state: Any, scratch: Any, moving: Any, frames: Any, times: Any, posterior: Any, best: Any,
              log_density: Any) -> None:  # fmt: skip
    """Process frames (T, n) at `times` (T,) in place: relax, infer, pull.

    `moving` is None if biases rest, so that what moves them is not compiled.
    """
    # Tuples are unpacked here, and the loops are in functions of their own, because both are quick to compile.
    stored, scale, resting_overlap, overlap, responsibility, inputs, clock = state
    rows = named(scratch, scale.size)
    index, value, chosen, drive, short = rows.lit, rows.value, rows.chosen, rows.drive, rows.short
    squared_pull, strength, pulled, amount = rows.squared_pull, rows.strength, rows.pulled, rows.amount
    by_feature, theta = constants.by_feature, constants.theta
    pulls = any_above_zero(constants.gain)

    for t in range(frames.shape[0]):
        # Relax, for the time since the last frame.
        if not np.isnan(clock[0]):
            _relax(constants.memories, state, times[t] - clock[0])
        clock[0] = times[t]

        # Infer, with the short-term part before this frame. A novel frame pulls nothing.
        if moving is not None:
            expect(constants, state, rows)
        count, squared, top, log_density[t], answers = read_frame(
            constants, state, rows, pulls, frames[t], posterior[t]
        )
        best[t] = top
        if not answers or top < constants.novelty_threshold:
            continue

        # What moves the biases: posteriors and inputs, summed with decay.
        if moving is not None:
            for m in range(scale.size):
                a = 1.0 / scale[m]
                inputs[m] += a
                for k in range(strength.size):
                    responsibility[m, k] += a * posterior[t, k]
        if not pulls:
            continue

        # Pull. W.F and |F|^2 change by amounts that follow from W.p, stored.p and |p|^2 of the pull p.
        unit = 1.0 / np.sqrt(squared) if constants.unit_inputs else 1.0
        n_chosen = _choose(constants.gain, posterior[t], constants.pull_threshold, unit, strength, chosen)
        if theta.size > 0:
            _products_of_weighted_pull(theta, by_feature, stored, index, value, count, drive, squared_pull, short)
        else:
            squared_pull[:] = squared
        for m in range(scale.size):
            _amounts(strength, scale[m], pulled[m], amount[m])
        for m in range(scale.size):
            for other in range(scale.size):
                _add_overlap(pulled[m], pulled[other], short[m], short[other], squared_pull, overlap[m, other])
            _add_resting_overlap(pulled[m], drive, resting_overlap[m])
            _pull(stored[m], theta, index, value, count, chosen, n_chosen, amount[m])
