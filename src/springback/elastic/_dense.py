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
from springback.elastic._inference import biases, find_lit, infer, weighted_rows
from springback.elastic.params import Constants

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
        Time of the last frame, (1,); NaN before the first.
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
        clock=np.full(1, np.nan),
    )


def short_term_dense(constants: Constants, state: DenseState) -> NDArray[np.float64]:
    """F, (K, n)."""
    return np.asarray(np.einsum("m,mnk->kn", constants.weights * state.scale, state.stored.astype(np.float64)))


@njit(cache=True)
def _relax(constants: Any, state: Any, elapsed: float) -> None:
    for m in range(state.scale.size):
        state.scale[m] *= np.exp(-elapsed / constants.memories[m])
        if state.scale[m] >= _FOLD_BELOW:
            continue
        scale = state.scale[m]
        tiny = _FLUSH_BELOW / scale if scale > 0 else np.inf
        stored = state.stored[m].ravel()
        small = stored.dtype.type(scale)
        for i in range(stored.size):
            # Without this, old values become denormal numbers, which slow down every later frame.
            stored[i] = stored[i] * small if abs(stored[i]) > tiny else stored.dtype.type(0)
        for k in range(state.resting_overlap.shape[1]):
            state.resting_overlap[m, k] *= scale
            state.responsibility[m, k] *= scale
            for other in range(state.scale.size):
                state.overlap[m, other, k] *= scale
                state.overlap[other, m, k] *= scale
        state.total[m] *= scale
        state.scale[m] = 1.0


@njit(cache=True)
def relax_dense(constants: Any, state: Any, elapsed: float) -> None:
    """Let time pass, in place."""
    _relax(constants, state, elapsed)
    state.clock[0] += elapsed


@njit(cache=True, fastmath={"contract"})
def _similarities(constants: Any, state: Any, drive: Any, short: Any, length: float, u: Any) -> None:
    """The cosine u = G.x / (|G| |x|), from `drive` = W.x and `short`[m] = stored[m].x."""
    for k in range(u.size):
        squared = constants.norm_squared[k]
        dot = np.float64(drive[k])
        for m in range(state.scale.size):
            a = constants.weights[m] * state.scale[m]
            dot += a * short[m, k]
            squared += 2 * a * state.resting_overlap[m, k]
            for other in range(state.scale.size):
                squared += a * constants.weights[other] * state.scale[other] * state.overlap[m, other, k]
        u[k] = min(max(dot / (np.sqrt(squared) * length), -1.0), 1.0) if squared > 0 else 0.0


@njit(cache=True, fastmath={"contract"})
def _products_of_weighted_pull(constants: Any, state: Any, index: Any, value: Any, count: int, with_resting: Any,
                               squared: Any, short: Any) -> None:  # fmt: skip
    """W.p, |p|^2 and stored[m].p for the weight-dependent pull p = theta x, replacing those of x."""
    with_resting[:] = 0
    squared[:] = 0
    short[:] = 0
    for i in range(count):
        j = index[i]
        theta, resting = constants.theta[j], constants.by_feature[j]
        for k in range(with_resting.size):
            part = theta[k] * value[i]
            with_resting[k] += part * resting[k]
            squared[k] += part * part
        for m in range(state.scale.size):
            stored = state.stored[m, j]
            for k in range(with_resting.size):
                short[m, k] += theta[k] * value[i] * stored[k]


@njit(cache=True, fastmath={"contract"})
def _pull(constants: Any, state: Any, index: Any, value: Any, count: int, strength: Any, chosen: Any, n_chosen: int,
          with_resting: Any, squared: Any, short: Any, amount: Any) -> None:  # fmt: skip
    """stored[m] += strength / scale[m] * (theta) x for the chosen centroids; updates the products accordingly."""
    components = state.scale.size
    weighted = constants.theta.size > 0
    few = n_chosen * 8 < strength.size
    for m in range(components):
        for c in range(n_chosen):
            k = chosen[c]
            a = strength[k] / state.scale[m]
            state.resting_overlap[m, k] += a * with_resting[k]
            for other in range(components):
                b = strength[k] / state.scale[other]
                state.overlap[m, other, k] += a * short[other, k] + b * short[m, k] + a * b * squared[k]
    for m in range(components):
        inverse = 1.0 / state.scale[m]
        for k in range(strength.size):
            amount[k] = strength[k] * inverse
        for i in range(count):
            j = index[i]
            row = state.stored[m, j]
            x = value[i]
            if weighted:
                theta = constants.theta[j]
                for k in range(row.size):
                    row[k] += amount[k] * theta[k] * x
            elif few:
                for c in range(n_chosen):
                    row[chosen[c]] += amount[chosen[c]] * x
            else:
                for k in range(row.size):
                    row[k] += amount[k] * x


@njit(cache=True)
def run_dense(constants: Any, state: Any, frames: Any, times: Any, adapt: bool, posterior: Any, best: Any,
              log_density: Any) -> None:  # fmt: skip
    """Process frames (T, n) at `times` (T,) in place: relax, infer, pull; only read if not `adapt`."""
    steps, n = frames.shape
    centroids = constants.norm_squared.size
    components = state.scale.size
    index = np.empty(n, np.int64)
    value = np.empty(n, frames.dtype)
    drive = np.empty(centroids, frames.dtype)
    short = np.zeros((components, centroids), frames.dtype)
    u = np.empty(centroids, frames.dtype)
    prior = np.empty(centroids)
    bias = np.empty(centroids)
    responsibility = np.zeros(centroids)
    strength = np.empty(centroids)
    squared_pull = np.empty(centroids, frames.dtype)
    amount = np.empty(centroids, frames.dtype)
    chosen = np.empty(centroids, np.int64)
    pulls = constants.gain.max() > 0

    for t in range(steps):
        if adapt:
            if not np.isnan(state.clock[0]):
                _relax(constants, state, times[t] - state.clock[0])
            state.clock[0] = times[t]
        if t == 0 or (adapt and constants.beta > 0):
            total = 0.0
            responsibility[:] = 0
            for m in range(components):
                a = constants.weights[m] * state.scale[m]
                total += a * state.total[m]
                for k in range(centroids):
                    responsibility[k] += a * state.responsibility[m, k]
            biases(constants, responsibility, total, prior, bias)

        count, squared = find_lit(frames[t], index, value)
        if count == 0:
            for k in range(centroids):
                posterior[t, k] = prior[k]
            best[t] = 0
            log_density[t] = np.nan
            continue
        length = np.sqrt(squared)
        weighted_rows(constants.by_feature, index, value, count, drive)
        if pulls:
            for m in range(components):
                weighted_rows(state.stored[m], index, value, count, short[m])
        _similarities(constants, state, drive, short, length, u)
        top, log_density[t], answers = infer(constants, u, prior, bias, posterior[t])
        best[t] = top
        if not adapt or not answers or top < constants.novelty:
            continue

        if constants.beta > 0:
            for m in range(components):
                a = 1.0 / state.scale[m]
                state.total[m] += a
                for k in range(centroids):
                    state.responsibility[m, k] += a * posterior[t, k]
        if not pulls:
            continue
        unit = 1.0 / length if constants.unit_inputs else 1.0
        n_chosen = 0
        for k in range(centroids):
            strength[k] = 0.0
            if posterior[t, k] > constants.pull_threshold:
                strength[k] = constants.gain[k] * posterior[t, k] * unit
                chosen[n_chosen] = k
                n_chosen += 1
        if constants.theta.size > 0:
            _products_of_weighted_pull(constants, state, index, value, count, drive, squared_pull, short)
        else:
            squared_pull[:] = squared
        _pull(constants, state, index, value, count, strength, chosen, n_chosen, drive, squared_pull, short, amount)
