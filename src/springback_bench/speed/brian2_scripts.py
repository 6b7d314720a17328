"""Circuits in Brian2: scripts that `to_brian2` of `spiking.composed` writes, run by an interpreter that has Brian2.

    python -m springback_bench.speed.brian2_scripts [--python INTERPRETER]

writes tests/data/brian2_circuits.npz: circuits that have every part, and two neurons under explicit Euler steps.
`run_script` also makes the other records of Brian2, `springback_bench.speed.brian2_reference` and
`springback_bench.speed.brian2_runs`.
"""

import argparse
import hashlib
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.spiking import InhibitoryNeuron
from springback.spiking.composed import (
    AdaptiveLif,
    ComposedCircuit,
    DivisiveInhibition,
    GlobalInhibition,
    Lif,
    Normalisation,
    PairStdp,
    PartnerInhibition,
    ShortTermStdp,
    StochasticLif,
    TripletStdp,
    TsodyksMarkram,
    poisson_spikes,
)
from springback.spiking.composed.brian2 import to_brian2
from springback.spiking.composed.brian2.script import spike_arrays
from springback.spiking.encoding import SpikeTrain
from springback_bench.place import BENCH_PYTHON, ROOT

RECORD = ROOT / "tests" / "data" / "brian2_circuits.npz"
TWO_NEURONS = "two neurons, explicit Euler"
KEPT = ("index", "step", "v_mv", "theta_mv", "weights", "short_term")


def circuits() -> dict[str, ComposedCircuit]:
    """Small circuits that have every part once, all with the same inputs."""
    weights = np.random.default_rng(20).random((30, 6)) * 0.6
    return {
        "lif, global inhibition, pairs": ComposedCircuit(
            weights,
            neurons=Lif(refractory_ms=0.0),
            inhibition=GlobalInhibition(weight=0.5, tau_ms=5.0),
            plasticity=PairStdp(potentiation=0.05, depression=0.03, weight_max=2.0),
        ),
        "adaptive, partners, triplets": ComposedCircuit(
            weights,
            neurons=AdaptiveLif(threshold_step_mv=0.5, tau_threshold_ms=300.0),
            inhibition=PartnerInhibition(),
            plasticity=[TripletStdp(weight_max=2.0), Normalisation(weight_sum=12.0, every_ms=200.0)],
        ),
        "lif, partners with exact steps": ComposedCircuit(
            weights,
            neurons=Lif(),
            inhibition=PartnerInhibition(partner=InhibitoryNeuron(exact_step=True), weight_from=5.0),
            thresholds_mv=np.linspace(-2.0, 2.0, 6),
        ),
        "lif, partners, short-term STDP": ComposedCircuit(
            weights,
            neurons=Lif(),
            inhibition=PartnerInhibition(weight_from=5.0),
            plasticity=ShortTermStdp(pull=0.2, memory_ms=np.linspace(100, 400, 6), efficacy_max=3.0),
            thresholds_mv=np.linspace(-2.0, 2.0, 6),
        ),
        "lif, partners, delayed short-term STDP": ComposedCircuit(
            weights,
            neurons=Lif(),
            inhibition=PartnerInhibition(weight_from=5.0),
            plasticity=ShortTermStdp(pull=0.2, memory_ms=300.0, delay_ms=30.0, pause_ms=150.0),
            thresholds_mv=np.linspace(-2.0, 2.0, 6),
        ),
        "lif, division, release": ComposedCircuit(
            4 * weights,
            neurons=Lif(drive_mv=8.0),
            inhibition=DivisiveInhibition(half_rate_hz=100.0),
            plasticity=TsodyksMarkram(release=0.3, tau_recovery_ms=200.0, tau_facilitation_ms=300.0),
        ),
        "stochastic, division, release": ComposedCircuit(
            np.tile(4 * weights, 10),
            neurons=StochasticLif(),
            inhibition=DivisiveInhibition(half_rate_hz=600.0),
            plasticity=TsodyksMarkram(release=0.4, tau_recovery_ms=100.0),
        ),
    }


def inputs() -> SpikeTrain:
    """The input spikes of all of them."""
    return poisson_spikes(np.full(30, 60.0), 600.0, seed=1)


def two_neurons(*, exact_step: bool) -> ComposedCircuit:
    """One input makes the first neuron fire; the second receives nothing but the inhibition that follows."""
    partner = InhibitoryNeuron(exact_step=exact_step)
    return ComposedCircuit(np.array([[200.0, 0.0]]), neurons=Lif(), inhibition=PartnerInhibition(partner=partner))


def one_spike(n_steps: int = 8) -> SpikeTrain:
    """The spike of that input in the first of some steps."""
    return SpikeTrain(np.zeros(1, np.int32), np.minimum(np.arange(n_steps + 1), 1))


def digest_of(script: Path) -> str:
    """The SHA-256 of a script, whichever version of springback wrote it."""
    text = re.sub(r"written by springback \S+", "written by springback", script.read_text())
    return hashlib.sha256(text.encode()).hexdigest()


def run_script(
    circuit: ComposedCircuit, spikes: dict[str, Any], python: Path, *, method: str = "implicit", target: str = "auto"
) -> dict[str, NDArray[Any]]:
    """Write the script of a circuit, run it, and read what it found; `digest` is that of the script."""
    with tempfile.TemporaryDirectory() as folder:
        files = to_brian2(circuit, folder, method=method)
        given, out = Path(folder) / "spikes.npz", Path(folder) / "out.npz"
        np.savez(given, **spikes)
        command = [str(python), str(files.script), str(given), str(out), target]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        with np.load(out, allow_pickle=False) as file:
            return {**file, "digest": np.array(digest_of(files.script))}


def record(python: Path, target: str) -> dict[str, NDArray[Any]]:
    """Every circuit in Brian2."""
    kept: dict[str, NDArray[Any]] = {}
    for name, circuit in circuits().items():
        found = run_script(circuit, spike_arrays(inputs(), circuit), python, target=target)
        kept |= {f"{name}: {what}": found[what] for what in (*KEPT, "digest", "version") if what in found}
    pair = two_neurons(exact_step=False)
    for n_steps in range(1, 9):
        found = run_script(pair, spike_arrays(one_spike(n_steps), pair), python, method="euler", target=target)
        kept |= {f"{TWO_NEURONS}, {n_steps} steps: {what}": found[what] for what in ("step", "v_mv", "digest")}
    return kept


def arguments(about: str | None) -> argparse.ArgumentParser:
    """The options that all programs have that run Brian2."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--python", type=Path, default=BENCH_PYTHON, help="an interpreter that has Brian2")
    parser.add_argument("--target", default="auto", choices=("auto", "cython", "numpy"), help="how Brian2 compiles")
    return parser


if __name__ == "__main__":
    asked = arguments(__doc__).parse_args()
    recorded: dict[str, Any] = record(asked.python, asked.target)
    np.savez_compressed(RECORD, **recorded)
    print(f"{RECORD.name}: {RECORD.stat().st_size:,} bytes")
