"""Recorded runs of Brian2 with its own integrators, and the input spikes, weights and settings that drove them.

`python -m springback_bench.speed.brian2_runs` wrote the file; `springback_paper.figures.convergence` compares the
engine with it.
"""

import hashlib
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import read
from springback.files.regular import read_bytes
from springback.spiking.params import Circuit, ShortTermStdp
from springback.spiking.weights import Weights

SHA256 = "d0c764a30d52408d3cff66dba6f39da123cab0b4f5e3c076e60b29313cd3f40c"
"""Of the file that is shipped; a result that was computed from another file is computed anew."""

GRID_MS = 0.5
"""Input spikes fall on multiples of this, so that every step hits them exactly."""

NEURONS, CIRCUIT, SHORT_TERM = "neurons without inhibition", "circuit", "circuit with short-term STDP"
NETWORKS = (NEURONS, CIRCUIT, SHORT_TERM)

_LARGEST = 1_000_000
_LEVELS = 255


@dataclass(frozen=True, kw_only=True, eq=False)
class Brian2Runs:
    """Every trial starts from rest; a run is all trials of one network with one integrator and one step.

    Parameters
    ----------
    weight_code : NDArray[np.uint8]
        (n_inputs, n_neurons), 255 times the resting weights.
    theta_mv : NDArray[np.float64]
        (n_neurons,) thresholds above the offset.
    short_term : dict[str, float]
        The parameters of short-term STDP, by their names in `ShortTermStdp`.
    trial_ms : dict[str, float]
        How long a trial of each network lasts.
    trials : dict[str, tuple[int, ...]]
        The trials of each network, by their numbers in `in_trial` and `out_trial`.
    in_trial, in_index, in_time
        Input spikes: the trial, the input, and the time in units of `GRID_MS`.
    networks, methods, dt_ms
        The network, the integrator and the step of each run.
    out_run, out_trial, out_index, out_step
        Output spikes: the run, the trial, the neuron and the step.
    version : str
        Of Brian2.
    """

    weight_code: NDArray[np.uint8]
    theta_mv: NDArray[np.float64]
    short_term: dict[str, float]
    trial_ms: dict[str, float]
    trials: dict[str, tuple[int, ...]]
    in_trial: NDArray[np.uint8]
    in_index: NDArray[np.int16]
    in_time: NDArray[np.int16]
    networks: tuple[str, ...]
    methods: tuple[str, ...]
    dt_ms: tuple[float, ...]
    out_run: NDArray[np.uint8]
    out_trial: NDArray[np.uint8]
    out_index: NDArray[np.uint8]
    out_step: NDArray[np.int32]
    version: str

    @property
    def weights(self) -> Weights:
        """The weights and thresholds, in double precision."""
        return Weights(self.weight_code / _LEVELS, self.theta_mv.copy())

    def circuit(self, network: str, dt_ms: float) -> Circuit:
        """The parameters of a network with a given step."""
        n_inputs, n_neurons = self.weight_code.shape
        circuit = Circuit(n_inputs=n_inputs, n_neurons=n_neurons, dt_ms=dt_ms)
        return replace(circuit, weight_from_inhibitory=0.0) if network == NEURONS else circuit

    def plasticity(self, network: str) -> ShortTermStdp | None:
        """Short-term STDP, if the network has it."""
        settings: dict[str, Any] = dict(self.short_term)
        return ShortTermStdp(**settings) if network == SHORT_TERM else None

    def inputs(self, trial: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The input spikes of a trial: which input, and when in units of `GRID_MS`."""
        chosen = self.in_trial == trial
        return self.in_index[chosen].astype(np.int64), self.in_time[chosen].astype(np.int64)

    def run_of(self, network: str, method: str, dt_ms: float) -> int | None:
        """The number of a run; None if there is none."""
        every = zip(self.networks, self.methods, self.dt_ms, strict=True)
        return next((number for number, one in enumerate(every) if one == (network, method, dt_ms)), None)

    def outputs(self, run: int, trial: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The output spikes of a trial: which neuron, and in which step."""
        chosen = (self.out_run == run) & (self.out_trial == trial)
        return self.out_index[chosen].astype(np.int64), self.out_step[chosen].astype(np.int64)


def recorded_path() -> Path:
    """Where the file is in the installed package."""
    return Path(str(files("springback_paper.inputs") / "brian2_runs.safetensors"))


def recorded_runs(path: Path | None = None) -> Brian2Runs:
    """The shipped runs; a missing, oversized or changed file raises a one-sentence error.

    Examples
    --------
    >>> runs = recorded_runs()
    >>> runs.weights.resting.shape, sorted(set(runs.dt_ms))
    ((784, 100), [0.01, 0.05, 0.1, 0.25, 0.5])
    """
    path = path or recorded_path()
    if hashlib.sha256(read_bytes(path, largest=_LARGEST)).hexdigest() != SHA256:
        raise DataError(f"{path} is not the file that was shipped (its checksum differs); reinstall springback")
    runs = read(path, "result", Brian2Runs)
    check.require(set(runs.networks) == set(NETWORKS), "the networks", f"be {', '.join(NETWORKS)}", runs.networks)
    return runs
