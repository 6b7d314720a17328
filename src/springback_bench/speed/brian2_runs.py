"""Record Brian2 with its own integrators (about 15 minutes).

    python -m springback_bench.speed.brian2_runs [--python INTERPRETER]

The scripts are those that `springback.spiking.composed.to_brian2` writes. The record, `brian2_runs.safetensors` in
`springback_paper`, is what the figure `convergence` compares the engine with; the program prints the SHA-256 that
`springback_paper.inputs.brian2_runs` must have. Weights are those of every fourth neuron of the shipped network, with
thresholds 2 mV lower, as streams have them; input spikes are drawn on a grid of 0.5 ms.
"""

import hashlib
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.files.container import write
from springback.spiking.composed import paper_circuit
from springback_bench.speed.brian2_scripts import arguments, run_script
from springback_paper.inputs.brian2_runs import (
    CIRCUIT,
    GRID_MS,
    NETWORKS,
    NEURONS,
    SHORT_TERM,
    Brian2Runs,
    recorded_path,
)

EVERY = 4
THRESHOLD_SHIFT_MV = -2.0
INTENSITY, HZ_PER_LEVEL, SHOW_MS = 3.5, 0.125, 350.0
HIDDEN_ROWS = (0, 9, 15)
"""Of the three frames of a trial with short-term STDP: a digit that disappears."""

SHORT_TERM_STDP = {
    "pull": 0.1,
    "weight_dependence": -0.4,
    "memory_ms": 700.0,
    "tau_trace_ms": 39.0,
    "efficacy_max": 4.5,
}
STILL, MOVING = tuple(range(10)), tuple(range(10, 16))
TRIALS = {NEURONS: STILL, CIRCUIT: STILL, SHORT_TERM: MOVING}
STEPS_MS = (0.5, 0.25, 0.1, 0.05)
FINEST_MS = 0.01


def shown() -> list[list[NDArray[np.uint8]]]:
    """The frames of each trial: the first digit of each class; then the second ones of six classes, disappearing."""
    digits = shipped_digits().pixels
    videos = []
    for trial in MOVING:
        frames = [digits[10 * (trial - len(STILL)) + 1].copy() for _ in HIDDEN_ROWS]
        for frame, rows in zip(frames, HIDDEN_ROWS, strict=True):
            frame[:rows] = 0
        videos.append(frames)
    return [[digits[10 * trial]] for trial in STILL] + videos


def drawn(trials: list[list[NDArray[np.uint8]]], seed: int) -> dict[str, NDArray[Any]]:
    """Input spikes: a coin for each pixel and each point of the grid."""
    rng, n_show = np.random.default_rng(seed), round(SHOW_MS / GRID_MS)
    trial, index, time = [], [], []
    for number, frames in enumerate(trials):
        for place, frame in enumerate(frames):
            chance = frame.ravel() * (HZ_PER_LEVEL * INTENSITY * GRID_MS * 1e-3)
            when, which = np.nonzero(rng.random((n_show, frame.size)) < chance)
            trial.append(np.full(len(when), number))
            index.append(which)
            time.append(when + place * n_show)
    return {
        "in_trial": np.concatenate(trial).astype(np.uint8),
        "in_index": np.concatenate(index).astype(np.int16),
        "in_time": np.concatenate(time).astype(np.int16),
    }


def record(python: Path, target: str, seed: int = 0) -> Brian2Runs:
    """Run Brian2 in its own environment."""
    trained = shipped_spiking().weights
    code = np.rint(np.clip(trained.resting[:, ::EVERY], 0, 1) * 255).astype(np.uint8)
    theta = trained.theta[::EVERY].astype(np.float64) + THRESHOLD_SHIFT_MV
    spikes = drawn(shown(), seed)
    trial_ms = {name: SHOW_MS * (len(HIDDEN_ROWS) if name == SHORT_TERM else 1) for name in NETWORKS}
    runs = [(network, method, dt) for network, method, dt in product(NETWORKS, ("rk4", "exponential_euler"), STEPS_MS)]
    runs += [(network, "rk4", FINEST_MS) for network in NETWORKS]
    kept = Brian2Runs(
        weight_code=code,
        theta_mv=theta,
        short_term=SHORT_TERM_STDP,
        trial_ms=trial_ms,
        trials=TRIALS,
        **spikes,
        networks=tuple(network for network, _, _ in runs),
        methods=tuple(method for _, method, _ in runs),
        dt_ms=tuple(dt for _, _, dt in runs),
        out_run=np.zeros(0, np.uint8),
        out_trial=np.zeros(0, np.uint8),
        out_index=np.zeros(0, np.uint8),
        out_step=np.zeros(0, np.int32),
        version="",
    )
    found = [integrated(kept, *one, python, target) for one in runs]
    number = np.repeat(np.arange(len(found)), [len(one["index"]) for one in found])
    return replace(
        kept,
        out_run=number.astype(np.uint8),
        out_trial=np.concatenate([one["trial"] for one in found]).astype(np.uint8),
        out_index=np.concatenate([one["index"] for one in found]).astype(np.uint8),
        out_step=np.concatenate([one["step"] for one in found]).astype(np.int32),
        version=str(found[0]["version"]),
    )


def integrated(
    runs: Brian2Runs, network: str, method: str, dt_ms: float, python: Path, target: str
) -> dict[str, NDArray[Any]]:
    """All trials of a network with one integrator and one step."""
    circuit = paper_circuit(runs.weights, runs.circuit(network, dt_ms), short_term=runs.plasticity(network))
    mine = np.isin(runs.in_trial, runs.trials[network])
    spikes = {
        "trial": runs.in_trial[mine],
        "index": runs.in_index[mine],
        "time_ms": runs.in_time[mine] * GRID_MS,
        "duration_ms": runs.trial_ms[network],
    }
    return run_script(circuit, spikes, python, method=method, target=target)


if __name__ == "__main__":
    asked = arguments(__doc__).parse_args()
    write(recorded_path(), "result", record(asked.python, asked.target))
    content = recorded_path().read_bytes()
    print(f"{len(content):,} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
