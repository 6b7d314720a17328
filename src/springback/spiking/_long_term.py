"""Long-term STDP: how resting weights are learned (Diehl & Cook 2015, triplet rule with nearest spikes).

    input spike:   w <- max(0, w - rate_pre * post_1)
    output spike:  w <- min(w_max, w + rate_post * pre * post_2),  post_2 before this spike;   theta <- theta + step
    each image:    w <- w * weight_sum / sum(w), or w <- w * weight_length / |w|

Traces are 1 at a spike and decay exponentially, so they are tables of the time since the last spike. What
happens at every input and output spike is in `_kernel.run_steps`; the rest is here.
"""

import numpy as np

from springback.compiled import njit

SMALLEST_THETA_SCALE = 1e-18
"""Below this value, the common scale is written into the thresholds, long before dividing by it could overflow."""

_NO_THRESHOLD_MV = 1e-30


@njit(cache=True, nogil=True)
def normalise(resting, neurons, n, stdp):  # type: ignore[no-untyped-def]
    """Scale the weights of the first n listed neurons to the common sum, or to the common length."""
    for i in range(n):
        k = neurons[i]
        total = 0.0
        for j in range(resting.shape[0]):
            total += resting[j, k] * resting[j, k] if stdp.by_length else resting[j, k]
        if total > 0.0:
            factor = resting.dtype.type(stdp.weight_total / (np.sqrt(total) if stdp.by_length else total))
            for j in range(resting.shape[0]):
                resting[j, k] *= factor


@njit(cache=True, inner=True, nogil=True)
def fold_theta(theta, common):  # type: ignore[no-untyped-def]
    """Write the common scale into the thresholds; values that have decayed become zero and not denormal numbers."""
    kind = theta.dtype.type
    scale = kind(common.theta_scale)
    for k in range(theta.shape[0]):
        theta[k] *= scale
        if abs(theta[k]) < _NO_THRESHOLD_MV:
            theta[k] = kind(0.0)
    common.theta_scale = 1.0


@njit(cache=True, inner=True, nogil=True)
def forget(step, last, listed, is_listed, length, horizon):  # type: ignore[no-untyped-def]
    """Remove entries from a list whose last spike was too long ago; returns how many are left."""
    kept = 0
    for i in range(length):
        one = listed[i]
        if step - last[one] < horizon:
            listed[kept] = one
            kept += 1
        else:
            is_listed[one] = False
    return kept


@njit(cache=True, inner=True, nogil=True)
def begin_image(resting, long_term, step):  # type: ignore[no-untyped-def]
    """Before each image: normalise the neurons whose weights may have changed, and remove old list entries."""
    stdp, traces = long_term.constants, long_term.state
    common = traces.common[0]
    normalise(resting, traces.fired, common.n_fired, stdp)
    pre, post = stdp.decay_pre.shape[0] - 1, stdp.decay_post_1.shape[0] - 1
    common.n_touched = forget(step, traces.last_pre, traces.touched, traces.is_touched, common.n_touched, pre)
    common.n_fired = forget(step, traces.last_post, traces.fired, traces.is_fired, common.n_fired, post)
