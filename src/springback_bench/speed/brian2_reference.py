"""Brian2 with the engine's step written into it: makes tests/data/reference.npz.

    python -m springback_bench.speed.brian2_reference [--write] [--python INTERPRETER]

The three networks of the file run with the input spikes, weights and thresholds that are in it, as the scripts that
`springback.spiking.composed.to_brian2` writes; it says whether the results are as stored, and `--write` stores them.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from springback.spiking import Circuit, LongTermStdp, ShortTermStdp, Weights
from springback.spiking.composed import paper_circuit
from springback_bench.place import ROOT
from springback_bench.speed.brian2_scripts import arguments, run_script

REFERENCE = ROOT / "tests" / "data" / "reference.npz"
N_STEPS = {"static": 6000, "train": 8000, "short_term": 7000}
FRAME_MS, IMAGE_MS = 350.0, 500.0
CIRCUIT = Circuit()
SHORT_TERM = ShortTermStdp(pull=0.7, weight_dependence=-0.3, memory_ms=300.0, tau_trace_ms=20.0)


def start_of(mode: str, stored: dict[str, Any]) -> Weights:
    """Weights and thresholds at the beginning; those of training are random, as in tests/spiking/test_reference.py."""
    if mode != "train":
        weights = np.zeros((784, 400))
        weights[stored["rows"]] = stored["weights"]
        return Weights(weights, stored["theta_mv"].astype(np.float64))
    rng = np.random.default_rng(20210115)
    for _ in range(6):
        rng.random((700, 784))
    weights = 0.3 * (rng.random((784, 400)) + 0.01)
    scaled = (weights * (LongTermStdp().weight_sum / weights.sum(axis=0))).astype(np.float32).astype(np.float64)
    return Weights(scaled, np.full(400, 20.0))


def simulated(mode: str, stored: dict[str, Any], python: Path, target: str) -> dict[str, Any]:
    """One network from rest to the end; the results by their names in the file."""
    rules: dict[str, Any] = {"train": {"long_term": LongTermStdp(), "normalise_every_ms": IMAGE_MS}}.get(mode, {})
    if mode == "short_term":
        rules = {"short_term": SHORT_TERM}
    spikes = {
        "index": stored[f"{mode}_input_index"],
        "time_ms": stored[f"{mode}_input_step"] * CIRCUIT.dt_ms,
        "duration_ms": N_STEPS[mode] * CIRCUIT.dt_ms,
        **({"look_ms": FRAME_MS} if mode == "short_term" else {}),
    }
    run = run_script(paper_circuit(start_of(mode, stored), CIRCUIT, **rules), spikes, python, target=target)
    fired = np.unique(run["index"])
    found = {f"{mode}_exc_index": run["index"].astype(np.int16), f"{mode}_exc_step": run["step"].astype(np.int16)}
    if mode == "static":
        found["static_v_final_mv"] = run["v_mv"][0]
    elif mode == "train":
        found["train_fired"] = fired
        found["train_weights_final"] = run["weights"][0].astype(np.float32)[:, fired]
        found["train_theta_final_mv"] = run["theta_mv"][0]
    else:
        found["short_term_active"] = fired
        found["short_term_after_frame"] = run["short_term"][:, stored["rows"]][:, :, fired].astype(np.float32)
    return found


def main() -> int:
    """Run all three; the exit code is 1 if anything differs from the file."""
    parser = arguments(__doc__)
    parser.add_argument("--write", action="store_true", help="store the results")
    parser.add_argument("--only", choices=tuple(N_STEPS), action="append", help="only this network")
    asked = parser.parse_args()
    with np.load(REFERENCE, allow_pickle=False) as file:
        stored = dict(file)
    modes = asked.only or list(N_STEPS)
    found = {
        name: value for mode in modes for name, value in simulated(mode, stored, asked.python, asked.target).items()
    }
    different = [
        name
        for name, value in found.items()
        if value.shape != stored[name].shape or not np.allclose(value, stored[name], rtol=1e-6, atol=1e-9)
    ]
    if asked.write:
        np.savez_compressed(REFERENCE, **{**stored, **found})
    print(f"different from the file: {', '.join(different)}" if different else f"all {len(found)} results as stored")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
