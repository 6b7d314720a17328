"""The arithmetic of one frame, shared by the compiled loops: lit features, resting drive, bias, posterior.

The two mixture models of the supplement, with u the cosine between the input and the centroid's efficacy G:

* exponential model (Definition S3.1): joint `exp(kappa u + ln P)`, posterior by soft-max (Eq. S26);
* linear model (Definition S4.1): joint `max(u + G0, 0)`, posterior by ratio (Eqs. S72 and S77).

Contraction (fused multiply-add) is the only optimisation by which the compiler may change results. The result for an
input is therefore bit-identical wherever the input is in a chunk.
"""

from typing import Any

import numpy as np

from springback.compiled import njit
from springback.elastic._biases import circle_bias_of, sphere_bias_of

SOFTMAX, RATIO, MAXIMUM = 0, 1, 2
SPHERE, CIRCLE, LINE, ZERO = 0, 1, 2, 3


@njit(cache=True, inner=True)
def find_lit(x: Any, index: Any, value: Any) -> Any:
    """List the non-zero features; returns how many there are, and |x|^2."""
    count = np.int64(0)
    for j in range(x.size):
        # Without a branch, which the processor would often predict wrongly.
        index[count] = j
        value[count] = x[j]
        count += x[j] != 0
    total = 0.0
    for i in range(count):
        total += np.float64(value[i]) * np.float64(value[i])
    return count, total


@njit(cache=True, inner=True, fastmath={"contract"})
def weighted_rows(by_feature: Any, index: Any, value: Any, count: int, drive: Any) -> None:
    """W.x of all centroids into `drive`, summed over the lit features only, eight rows of W (n, K) at a time."""
    drive[:] = 0
    whole = count - count % 8
    for i in range(0, whole, 8):
        w0, w1, w2, w3 = (
            by_feature[index[i]],
            by_feature[index[i + 1]],
            by_feature[index[i + 2]],
            by_feature[index[i + 3]],
        )
        w4, w5, w6, w7 = (
            by_feature[index[i + 4]],
            by_feature[index[i + 5]],
            by_feature[index[i + 6]],
            by_feature[index[i + 7]],
        )
        v0, v1, v2, v3 = value[i], value[i + 1], value[i + 2], value[i + 3]
        v4, v5, v6, v7 = value[i + 4], value[i + 5], value[i + 6], value[i + 7]
        for k in range(drive.size):
            drive[k] += (v0 * w0[k] + v1 * w1[k] + v2 * w2[k] + v3 * w3[k]) + (
                v4 * w4[k] + v5 * w5[k] + v6 * w6[k] + v7 * w7[k]
            )
    for i in range(whole, count):
        w0 = by_feature[index[i]]
        v0 = value[i]
        for k in range(drive.size):
            drive[k] += v0 * w0[k]


@njit(cache=True, inner=True)
def biases(constants: Any, responsibility: Any, total: float, prior: Any, bias: Any) -> None:
    """Prior and bias of every centroid now; `responsibility` and `total` are in units of f(0).

    The prior is `(sum_i Q_i f + P beta) / (sum_i f + beta)` over the past inputs i. The bias is its logarithm in the
    exponential model (Eq. S25). In the linear model it follows by the bias rule, of which "line" is Eq. S71. If inputs
    pull the prior (Algorithm 1), it is `(P + gamma sum_i Q_i f / f(0)) / Z` instead.
    """
    norm = 0.0
    if constants.pulls_prior:
        for k in range(prior.size):
            norm += constants.prior[k] + constants.gain[k] * responsibility[k]
    for k in range(prior.size):
        if constants.beta == 0:
            prior[k] = constants.prior[k]
            bias[k] = constants.bias[k]
            continue
        if constants.pulls_prior:
            now = (constants.prior[k] + constants.gain[k] * responsibility[k]) / norm
        else:
            now = (constants.odds * responsibility[k] + constants.prior[k] * constants.beta) / (
                constants.odds * total + constants.beta
            )
        prior[k] = now
        if not constants.linear:
            bias[k] = np.log(now) if now > 0 else -np.inf
        elif constants.bias_rule == SPHERE:
            bias[k] = sphere_bias_of(now, constants.bias_table)
        elif constants.bias_rule == CIRCLE:
            bias[k] = circle_bias_of(now)
        elif constants.bias_rule == LINE:
            bias[k] = now - 1.0
        else:
            bias[k] = 0.0


@njit(cache=True, inner=True, fastmath={"nnan", "nsz"})
def largest(row: Any) -> Any:
    """The largest number of a row without NaN; the flags let it be found for many at a time."""
    top = row[0]
    for k in range(row.size):
        top = row[k] if row[k] > top else top
    return top


@njit(cache=True, inner=True)
def _first(row: Any, wanted: Any) -> int:
    """Where a number is found first."""
    for k in range(row.size):
        if row[k] == wanted:
            return k
    return 0


@njit(cache=True, inner=True, fastmath={"contract"})
def infer(kappa: float, linear: bool, inference: int, log_normaliser: float, u: Any, prior: Any, bias: Any,
          posterior: Any) -> Any:  # fmt: skip
    """Posterior of one input; returns its largest similarity, its log density and whether any centroid answers.

    `Q_k ~ P_k exp(kappa u_k)` (Eq. S26) or `Q_k ~ max(u_k + G0_k, 0)` (Eq. S77); if no centroid of the linear model is
    above its threshold, it is the prior. The log density is that of the mixture on the unit sphere (Eq. S32).
    Posteriors below the rounding error of the largest are returned as zero.
    """
    small_kappa = u.dtype.type(kappa)
    log_density = 0.0
    if linear:
        joint = 0.0
        for k in range(u.size):
            posterior[k] = max(u[k] + bias[k], 0.0)
            joint += prior[k] * max(u[k], 0.0)
        log_density = log_normaliser + (np.log(joint) if joint > 0 else -np.inf)
        if inference == SOFTMAX:
            for k in range(u.size):
                posterior[k] *= small_kappa
    else:
        for k in range(u.size):
            posterior[k] = small_kappa * u[k] + bias[k]

    top = largest(posterior)
    winner = _first(posterior, top) if inference == MAXIMUM else 0
    answers = not linear or top > 0

    total = 0.0
    if not linear or inference == SOFTMAX:
        floor = -25.0 if u.itemsize == 4 else -45.0
        for k in range(u.size):
            above = posterior[k] - top
            share = np.exp(above) if above > floor else u.dtype.type(0)
            posterior[k] = share
            total += share
        if not linear:
            log_density = log_normaliser + top + np.log(total)
    else:
        for k in range(u.size):
            total += posterior[k]

    if not answers:
        for k in range(u.size):
            posterior[k] = prior[k]
    elif inference == MAXIMUM:
        posterior[:] = 0
        posterior[winner] = 1
    else:
        scale = u.dtype.type(1.0 / total)
        for k in range(u.size):
            posterior[k] *= scale
    return largest(u), log_density, answers
