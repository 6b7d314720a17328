"""Whether the spikes of the sampling networks are samples of the posterior: spike counts and a chi-square test."""

from dataclasses import dataclass

import numpy as np

from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.sampling import SamplingCircuit, posterior, respond, sampling_weights
from springback_paper.tasks.entry import Added

_CIRCUITS = {
    "exponential": SamplingCircuit(neuron="exponential", kappa=6.0),
    "relu": SamplingCircuit(neuron="relu", threshold=0.6),
}


@dataclass(frozen=True, kw_only=True)
class SamplingCheck:
    """Spike counts against the posterior, for each kind of neuron.

    Parameters
    ----------
    distance, expected : dict[str, float]
        Total variation distance of the shares of spikes to the posterior, and what independent samples would have on
        average.
    p_value : dict[str, float]
        Of the chi-square test that the spikes are samples of the posterior.
    spikes : dict[str, int]
        How many there were.
    """

    distance: dict[str, float]
    expected: dict[str, float]
    p_value: dict[str, float]
    spikes: dict[str, int]


def check_samples(n_neurons: int, n_inputs: int, n_frames: int, seed: int) -> SamplingCheck:
    """Show one random frame to random weights, again and again, and count spikes.

    Examples
    --------
    >>> min(check_samples(n_neurons=5, n_inputs=12, n_frames=200, seed=0).p_value.values()) > 0.001
    True
    """
    from scipy.stats import chisquare

    rng = np.random.default_rng([seed, n_neurons])
    weights = sampling_weights(rng.random((n_inputs, n_neurons)), rng.random(n_neurons) + 0.5)
    frame = rng.integers(0, 256, (1, n_inputs), np.uint8)
    distance, expected, p_value, spikes = {}, {}, {}, {}
    for name, circuit in _CIRCUITS.items():
        q = posterior(weights, frame[0], circuit=circuit).astype(np.float64)
        q /= q.sum()
        counts = respond(weights, np.repeat(frame, n_frames, axis=0), circuit=circuit, seed=seed).counts.sum(axis=0)
        n = int(counts.sum())
        possible = q > 0
        distance[name] = float(np.abs(counts / n - q).sum() / 2)
        # The mean absolute deviation of a binomial share is sqrt(2 / pi) of its standard deviation.
        expected[name] = float(np.sqrt(2 / np.pi * q * (1 - q) / n).sum() / 2)
        p_value[name] = (
            float(chisquare(counts[possible], q[possible] * n).pvalue) if counts[~possible].sum() == 0 else 0.0
        )
        spikes[name] = n
    return SamplingCheck(distance=distance, expected=expected, p_value=p_value, spikes=spikes)


def tasks(scope: Scope, seed: int) -> list[Added]:
    """Once, with the first seed."""
    if seed != scope.seeds[0]:
        return []
    params = {"n_neurons": 10, "n_inputs": 50, "n_frames": 4000 if scope.limit is None else 500}
    task = Task(name="sampling_posterior", run=check_samples, params=params, seed=seed, needs={}, seconds=5)
    return [(("sampling_posterior",), task)]
