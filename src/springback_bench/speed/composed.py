"""The paper's circuit from parts, next to the paper's own kernel.

    python -m springback_bench.speed.composed       prints the ratios

Three digits of 350 ms on the shipped network, double precision, CPU time, the fastest of fifteen runs.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import Weights, simulate_spikes
from springback.spiking.composed import paper_circuit, spikes_at


def fastest(run: Callable[[], Any], times: int = 15) -> float:
    """CPU seconds of the fastest of several runs, after one that compiles."""
    run()
    taken = []
    for _ in range(times):
        before = time.process_time()
        run()
        taken.append(time.process_time() - before)
    return min(taken)


def main() -> None:
    """Print how many times as long the composed circuit takes, for each plasticity."""
    model, rng = shipped_spiking(), np.random.default_rng(0)
    preset = model.preset
    theta = model.weights.theta.astype(np.float64) + preset.streaming.threshold_shift_mv
    weights = Weights(model.weights.resting.astype(np.float64), theta)
    pixels = shipped_digits().pixels[[0, 1, 30]].reshape(3, 1, -1)
    step, index = np.nonzero((rng.random((3, 700, 784)) < pixels * 0.125 * 2.78 * 0.5e-3).reshape(2100, 784))
    train = spikes_at(index, step * 0.5, 1050.0)
    rules: dict[str, Any]
    for name, rules in (
        ("static", {}),
        ("short-term STDP", {"short_term": preset.short_term}),
        ("long-term STDP", {"long_term": preset.long_term}),
    ):
        composed = paper_circuit(weights, preset.circuit, **rules)
        ours = fastest(partial(simulate_spikes, weights, index, step, 2100, circuit=preset.circuit, **rules))
        parts = fastest(partial(composed.run, train))
        print(f"{name}: {1e3 * ours:.2f} ms, from parts {1e3 * parts:.2f} ms, {parts / ours:.2f} times as long")


if __name__ == "__main__":
    main()
