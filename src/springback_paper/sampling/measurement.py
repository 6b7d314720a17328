"""The hidden input behind noisy or spiking measurements (Section S6.1).

The estimate is a weighted mean of the past, Eq. S94: `X_t ~ integral of X_stoch(t - tau) v(tau) d tau` with
`v(tau) = tau^-1/2 exp(-alpha tau)`. The paper's constant in front has no influence on a cosine; here the weights sum to
one over what has been seen, so that a constant input is estimated as itself from the first step on.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from springback import check
from springback.compiled import njit


class MeasurementState(NamedTuple):
    """The recent measurements: `recent` (window, features), newest at `position - 1`, and how many were `seen`."""

    recent: NDArray[Any]
    position: int
    seen: int


def measurement_weights(switch_rate: float, window: int) -> NDArray[np.float64]:
    """The kernel v integrated over each of the last `window` steps: newest first, summing to one.

    Over one step the integral is `sqrt(pi / alpha) (erf sqrt(alpha (m + 1)) - erf sqrt(alpha m))`, so the pole of v at
    zero is harmless; `2 (sqrt(m + 1) - sqrt m)` at alpha = 0.

    Examples
    --------
    >>> measurement_weights(0.0, 2).round(4)
    array([0.7071, 0.2929])
    """
    check.real("switch_rate", switch_rate, low=0)
    check.integer("window", window, low=1)
    edges = np.sqrt(np.arange(window + 1.0))
    cumulative = erf(np.sqrt(switch_rate) * edges) if switch_rate > 0 else edges
    weights = np.diff(cumulative)
    return np.asarray(weights / weights.sum())


@njit(cache=True, makes_arrays=True)
def _filter(measurements: Any, weights: Any, recent: Any, position: int, seen: int, estimate: Any) -> Any:
    window = weights.size
    for t in range(measurements.shape[0]):
        recent[position] = measurements[t]
        seen = min(seen + 1, window)
        total = 0.0
        for m in range(seen):
            total += weights[m]
        for m in range(seen):
            share = weights[m] / total
            row = recent[(position - m) % window]
            for j in range(row.size):
                estimate[t, j] += share * row[j]
        position = (position + 1) % window
    return position, seen


def hidden_input(
    measurements: NDArray[Any], weights: NDArray[np.float64], state: MeasurementState | None = None
) -> tuple[NDArray[Any], MeasurementState]:
    """The estimate of the input after every measurement, and the state from which to continue.

    measurements (steps, features), one row per step; weights from `measurement_weights`. Any chunking of the same
    measurements gives the same estimates.

    Examples
    --------
    >>> spikes = np.random.default_rng(0).poisson(3.0, (200, 2)).astype(float)
    >>> estimate, state = hidden_input(spikes, measurement_weights(0.01, 100))
    >>> bool(np.abs(estimate[-1] - 3.0).max() < 1.0)
    True
    """
    measurements = np.ascontiguousarray(measurements)
    if measurements.dtype not in (np.float32, np.float64):
        measurements = measurements.astype(np.float64)
    check.array("measurements", measurements, shape=(None, None), dtype=measurements.dtype)
    if state is None:
        state = MeasurementState(np.zeros((len(weights), measurements.shape[1]), measurements.dtype), 0, 0)
    check.array("state.recent", state.recent, shape=(len(weights), measurements.shape[1]), dtype=measurements.dtype)
    recent = state.recent.copy()
    estimate = np.zeros_like(measurements)
    position, seen = _filter(measurements, weights, recent, state.position, state.seen, estimate)
    return estimate, MeasurementState(recent, position, seen)
