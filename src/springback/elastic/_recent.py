"""The short-term part represented by its causes: the recent (input, posterior) pairs, weighted by any decay kernel.

`F_k = gain_k * sum_i f(t - t_i) / f(0) * Q_ik * x_i` (Eqs. S24 and S70) is never formed. With the products `W.x_i` and
`x_i.x_j` stored with the pairs, `F.x` and `|G|^2` are sums over pairs. The matrix of K x n numbers becomes D x (n + 2 K
+ D) for a window of D frames, which makes many streams affordable, and any f(t) possible.

Cutting an exponential kernel of time constant `memory` after D frames changes a row of F, for the same posteriors, by
at most `gain * exp(-(D + 1) / memory) / (1 - exp(-1 / memory))` times the longest input (unit time steps).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.elastic._inference import biases, find_lit, infer, largest, weighted_rows
from springback.elastic.params import Constants
from springback.streaming.pace import CLOCK


class RecentState(NamedTuple):
    """The last D frames in a ring; K centroids, n features.

    Parameters
    ----------
    inputs : NDArray[Any]
        (D, n).
    drive : NDArray[Any]
        W.x_i, (D, K).
    overlap : NDArray[np.float64]
        x_i.x_j, (D, D).
    posterior : NDArray[Any]
        (D, K).
    factor : NDArray[np.float64]
        (D,): 1 / |x_i| (or 1 if inputs pull as they are); 0 for frames that pulled nothing.
    times : NDArray[np.float64]
        (D,); NaN where nothing has been seen yet.
    position : NDArray[np.int64]
        Where the next frame goes, (1,).
    clock : NDArray[np.float64]
        (CLOCK,): the time of the last frame in the unit of the memory, NaN before the first, and then the pace of the
        stream, see `springback.streaming.pace`.
    """

    inputs: NDArray[Any]
    drive: NDArray[Any]
    overlap: NDArray[np.float64]
    posterior: NDArray[Any]
    factor: NDArray[np.float64]
    times: NDArray[np.float64]
    position: NDArray[np.int64]
    clock: NDArray[np.float64]


def init_recent(constants: Constants, frames: int) -> RecentState:
    """A state at rest that will remember `frames` frames."""
    n, k = constants.by_feature.shape
    dtype = constants.by_feature.dtype
    return RecentState(
        inputs=np.zeros((frames, n), dtype),
        drive=np.zeros((frames, k), dtype),
        overlap=np.zeros((frames, frames)),
        posterior=np.zeros((frames, k), dtype),
        factor=np.zeros(frames),
        times=np.full(frames, np.nan),
        position=np.zeros(1, np.int64),
        clock=np.full(CLOCK, np.nan),
    )


def lag_weights(kernel: Any, state: RecentState, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """f(t - t_i) / f(0) of each frame's D predecessors, newest first: (T, D). Zero where nothing was seen."""
    frames = len(state.times)
    in_order = np.roll(state.times, -int(state.position[0]))
    seen = np.concatenate([in_order, times])
    before = np.lib.stride_tricks.sliding_window_view(seen, frames)[: len(times), ::-1]
    return decay_since(kernel, before, times[:, None])


def decay_since(kernel: Any, seen: NDArray[np.float64], now: Any) -> NDArray[np.float64]:
    """f(now - seen) / f(0), zero where `seen` is NaN."""
    known = ~np.isnan(seen)
    with np.errstate(over="ignore"):
        lags = np.where(known, now - seen, 0.0)
    return np.asarray(np.where(known, kernel(lags), 0.0) / kernel(np.zeros(1))[0])


def short_term_recent(constants: Constants, state: RecentState, decay: NDArray[np.float64]) -> NDArray[np.float64]:
    """F, (K, n); `decay` (D,) newest first."""
    order = (int(state.position[0]) - 1 - np.arange(len(decay))) % len(decay)
    kept = np.where(state.posterior > constants.pull_threshold, state.posterior, 0)[order].astype(np.float64)
    amount = (decay * state.factor[order])[:, None] * kept
    rows = constants.gain[:, None] * (amount.T @ state.inputs[order].astype(np.float64))
    return np.asarray(rows * constants.theta.T) if constants.theta.size else rows


@njit(cache=True, inner=True, fastmath={"contract", "reassoc", "nsz"})
def _lit_dot(row: Any, index: Any, value: Any, count: int) -> float:
    total = 0.0
    for i in range(count):
        total += np.float64(row[index[i]]) * np.float64(value[i])
    return total


@njit(cache=True, inner=True, fastmath={"contract"})
def _keep_pairs(constants: Any, state: Any, decay: Any, kept: Any, frame: Any) -> int:
    """Rows of decayed posteriors, newest first, and their frames; pairs below the rounding error of W are skipped."""
    window = decay.size
    negligible = (
        np.finfo(kept.dtype).eps / 64 * np.sqrt(largest(constants.norm_squared)) / max(largest(constants.gain), 1e-300)
    )
    count = 0
    for h in range(window):
        i = (state.position[0] - 1 - h) % window
        a = decay[h] * state.factor[i]
        if a * np.sqrt(state.overlap[i, i]) <= negligible:
            continue
        small = kept.dtype.type(a)
        q = state.posterior[i]
        row = kept[count]
        for k in range(q.size):
            row[k] = small * q[k] if q[k] > constants.pull_threshold else kept.dtype.type(0)
        frame[count] = i
        count += 1
    return count


@njit(cache=True, inner=True, fastmath={"contract"})
def _add_pairs(constants: Any, state: Any, kept: Any, frame: Any, count: int, shared: Any, order: Any, value: Any,
               partial: Any, dot: Any, with_resting: Any, alone: Any) -> None:  # fmt: skip
    """F.x, W.F and |F|^2 of every centroid, from the kept pairs; `shared` holds x_i.x."""
    with_resting[:] = 0
    alone[:] = 0
    for c in range(count):
        value[c] = shared[frame[c]]
    weighted_rows(kept, order, value, count, dot)
    for c in range(count):
        i = frame[c]
        for b in range(c):
            value[b] = 2 * state.overlap[i, frame[b]]
        weighted_rows(kept, order, value, c, partial)
        own = kept.dtype.type(state.overlap[i, i])
        row, drive = kept[c], state.drive[i]
        for k in range(row.size):
            with_resting[k] += row[k] * drive[k]
            alone[k] += row[k] * (partial[k] + own * row[k])
    for k in range(dot.size):
        gain = kept.dtype.type(constants.gain[k])
        dot[k] *= gain
        with_resting[k] *= gain
        alone[k] *= gain * gain


@njit(cache=True, makes_arrays=True, inner=True, fastmath={"contract"})
def _add_rows(constants: Any, state: Any, decay: Any, x: Any, dot: Any, with_resting: Any, alone: Any) -> None:
    """The same with weight dependence, where each centroid has its own pull: rows of F are formed one by one."""
    frames = decay.size
    row = np.empty(x.size)
    for k in range(dot.size):
        dot[k] = 0
        with_resting[k] = 0
        alone[k] = 0
        row[:] = 0
        touched = False
        for h in range(frames):
            i = (state.position[0] - 1 - h) % frames
            if state.posterior[i, k] <= constants.pull_threshold:
                continue
            a = constants.gain[k] * decay[h] * state.factor[i] * state.posterior[i, k]
            if a == 0:
                continue
            touched = True
            for j in range(x.size):
                row[j] += a * state.inputs[i, j]
        if not touched:
            continue
        for j in range(x.size):
            part = row[j] * constants.theta[j, k]
            dot[k] += part * x[j]
            with_resting[k] += part * constants.by_feature[j, k]
            alone[k] += part * part


@njit(cache=True, makes_arrays=True)
def run_recent(constants: Any, state: Any, frames: Any, times: Any, decay: Any, adapt: bool, posterior: Any, best: Any,
               log_density: Any) -> None:  # fmt: skip
    """Process frames (T, n) in place: infer, then remember the pair; only read if not `adapt`.

    decay (T, D): weight of each frame's predecessors, newest first; (1, D) when only reading.
    """
    steps, n = frames.shape
    centroids = constants.norm_squared.size
    window = state.times.size
    index = np.empty(n, np.int64)
    value = np.empty(n, frames.dtype)
    drive = np.empty(centroids, frames.dtype)
    u = np.empty(centroids, frames.dtype)
    shared = np.empty(window)
    dot = np.empty(centroids, frames.dtype)
    with_resting = np.empty(centroids, frames.dtype)
    alone = np.empty(centroids, frames.dtype)
    kept = np.empty((window, centroids), frames.dtype)
    partial = np.empty(centroids, frames.dtype)
    frame = np.empty(window, np.int64)
    order = np.arange(window)
    pair = np.empty(window, frames.dtype)
    prior = np.empty(centroids)
    bias = np.empty(centroids)
    responsibility = np.zeros(centroids)

    for t in range(steps):
        x = frames[t]
        weights = decay[t] if adapt else decay[0]
        # Prior and bias of every centroid, moved by the remembered posteriors if beta is given.
        if t == 0 or (adapt and constants.beta > 0):
            total = 0.0
            responsibility[:] = 0
            if constants.beta > 0:
                for h in range(window):
                    i = (state.position[0] - 1 - h) % window
                    if state.factor[i] == 0 or weights[h] == 0:
                        continue
                    total += weights[h]
                    for k in range(centroids):
                        responsibility[k] += weights[h] * state.posterior[i, k]
            biases(constants, responsibility, total, prior, bias)
        # Products of the frame with W and with every remembered input.
        count, squared = find_lit(x, index, value)
        weighted_rows(constants.by_feature, index, value, count, drive)
        for i in range(window):
            shared[i] = _lit_dot(state.inputs[i], index, value, count) if state.factor[i] != 0 else 0.0
        length = np.sqrt(squared)
        answers = False
        top = u.dtype.type(0)
        # Infer, with F.x, W.F and |F|^2 as sums over the remembered pairs; an all-zero frame has the prior.
        if count == 0:
            for k in range(centroids):
                posterior[t, k] = prior[k]
            log_density[t] = np.nan
        else:
            if constants.theta.size > 0:
                _add_rows(constants, state, weights, x, dot, with_resting, alone)
            else:
                n_kept = _keep_pairs(constants, state, weights, kept, frame)
                _add_pairs(
                    constants, state, kept, frame, n_kept, shared, order, pair, partial, dot, with_resting, alone
                )
            for k in range(centroids):
                long = constants.norm_squared[k] + 2 * np.float64(with_resting[k]) + np.float64(alone[k])
                cosine = (np.float64(drive[k]) + dot[k]) / (np.sqrt(long) * length) if long > 0 else 0.0
                u[k] = min(max(cosine, -1.0), 1.0)
            top, log_density[t], answers = infer(
                constants.kappa, constants.linear, constants.inference, constants.log_normaliser, u, prior, bias,
                posterior[t],
            )  # fmt: skip
        best[t] = top
        if not adapt:
            continue

        # Remember the pair, in the place of the oldest; a frame that pulls nothing has the factor 0.
        here = state.position[0]
        state.inputs[here] = x
        state.drive[here] = drive
        state.overlap[here] = shared
        state.overlap[:, here] = shared
        state.overlap[here, here] = squared
        state.posterior[here] = posterior[t]
        pulls = count > 0 and answers and top >= constants.novelty_threshold
        state.factor[here] = 0.0 if not pulls else (1.0 / length if constants.unit_inputs else 1.0)
        state.times[here] = times[t]
        state.position[0] = (here + 1) % window
        state.clock[0] = times[t]
