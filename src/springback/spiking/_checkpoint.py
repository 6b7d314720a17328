"""Checkpoints on disk from which a killed training can resume; checked before compiled code receives them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.checkpoints import read_checkpoint, write_checkpoint
from springback.spiking._state import long_term_rest, rest_state
from springback.spiking._state_arrays import arrays_of, record_from
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import TrainingState, check_training_state


def save_checkpoint(
    state: TrainingState,
    path: Path,
    *,
    circuit: Circuit,
    long_term: LongTermStdp,
    training: Presentation,
    seed: int,
    data: str,
) -> None:
    """Save the state of training, so that `load_checkpoint` can resume from exactly there."""
    tensors: dict[str, NDArray[Any]] = {"resting": state.resting, "n_seen": np.array([state.n_seen])}
    tensors |= arrays_of("circuit", state.circuit) | arrays_of("traces", state.traces)
    write_checkpoint(path, _describe(circuit, long_term, training, seed, data), tensors)


def load_checkpoint(
    path: Path, *, circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> TrainingState:
    """Load the state of a training; refused if it belongs to another training.

    If the file is missing or damaged, training resumes from the previous version, with a warning.
    """
    wanted = _describe(circuit, long_term, training, seed, data)
    return read_checkpoint(path, wanted, lambda arrays: _state(arrays, circuit))


def _state(tensors: Mapping[str, NDArray[Any]], circuit: Circuit) -> TrainingState:
    dtype = tensors["resting"].dtype.name if "resting" in tensors else "missing"
    check.one_of("resting.dtype", dtype, ("float32", "float64"))
    at_rest = rest_state(circuit, np.zeros(circuit.n_neurons), dtype)
    before = long_term_rest(circuit, dtype)
    names = {"resting", "n_seen", *arrays_of("circuit", at_rest), *arrays_of("traces", before)}
    check.require(set(tensors) == names, "the file", "hold the arrays of a training", sorted(tensors))
    n_seen = check.array("n_seen", tensors["n_seen"], shape=(1,), dtype=np.int64)
    state = TrainingState(
        tensors["resting"],
        record_from("circuit", at_rest, tensors),
        record_from("traces", before, tensors),
        int(n_seen[0]),
    )
    check_training_state(state, circuit)
    return state


def _describe(
    circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> dict[str, str]:
    params = {"circuit": asdict(circuit), "long_term": asdict(long_term), "training": asdict(training)}
    return {"params": json.dumps(params, sort_keys=True), "seed": str(seed), "data": data}
