"""Input spikes of a circuit: given by time, or random."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.constants import steps
from springback.spiking.encoding import MOST_SPIKES, SpikeTrain, spike_train


def spikes_at(index: Any, time_ms: Any, duration_ms: float, *, dt_ms: float = 0.5) -> SpikeTrain:
    """Spikes at given times: input `index[i]` spikes at `time_ms[i]`, in the step that contains this time.

    Examples
    --------
    >>> spikes_at([1, 0], [3.2, 0.5], 10.0).which
    array([0, 1], dtype=int32)
    """
    n_steps = steps(check.real("duration_ms", duration_ms, low=0), check.real("dt_ms", dt_ms, above=0), "duration_ms")
    times = np.asarray(time_ms, np.float64)
    check.require(times.ndim == 1 and bool(np.isfinite(times).all()), "time_ms", "be a list of finite numbers", time_ms)
    # A time on the grid is not moved to the step before by rounding.
    step = np.floor(times / dt_ms + 1e-9).astype(np.int64)
    return spike_train(np.asarray(index, dtype=np.int64) if len(times) else np.zeros(0, np.int64), step, n_steps)


def poisson_spikes(rates_hz: Any, duration_ms: float, *, dt_ms: float = 0.5, seed: int = 0) -> SpikeTrain:
    """Random spikes: each input fires in each step with probability `rate * dt`, independently.

    Parameters
    ----------
    rates_hz : Any
        (n_inputs,) one rate for each input.

    Examples
    --------
    >>> len(poisson_spikes(np.full(100, 20.0), 1000.0, seed=0).which)  # 2,000 are expected
    1954
    """
    rates: NDArray[np.float64] = np.asarray(rates_hz, np.float64)
    check.require(rates.ndim == 1 and len(rates) > 0, "rates_hz", "be one number for each input", rates.shape)
    n_steps = steps(check.real("duration_ms", duration_ms, low=0), check.real("dt_ms", dt_ms, above=0), "duration_ms")
    chance = rates * dt_ms * 1e-3
    fits = bool(np.isfinite(chance).all() and (chance >= 0).all() and (chance <= 1).all())
    check.require(fits, "rates_hz", "be >= 0 and at most one spike per step", rates)
    expected = float(chance.sum()) * n_steps
    check.require(expected < MOST_SPIKES / 2, "rates_hz", f"give fewer than {MOST_SPIKES // 2:,} spikes", expected)
    rng = np.random.default_rng([check.integer("seed", seed, low=0), 20])
    which, when = [], []
    for j, one in enumerate(chance):
        at = np.flatnonzero(rng.random(n_steps) < one) if one > 0 else np.zeros(0, np.int64)
        which.append(np.full(len(at), j, np.int64))
        when.append(at)
    return spike_train(np.concatenate(which), np.concatenate(when), n_steps)
