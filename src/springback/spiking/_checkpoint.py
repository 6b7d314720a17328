"""Checkpoints on disk from which a killed training can resume; checked before compiled code receives them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.spiking._state import CircuitState, LongTermState, recent_dtype
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import TrainingState, check_training_state
from springback.storage import DamagedError, load_newest, read_tensors, refuse_another_training, save_tensors
from springback.version import __version__

_KIND = "training checkpoint"
_MARKS = ("is_touched", "is_fired")


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
    recent = state.circuit.recent
    tensors: dict[str, NDArray[Any]] = {"resting": state.resting, "n_seen": np.array([state.n_seen])}
    tensors |= {f"recent.{name}": np.ascontiguousarray(recent[name]) for name in recent.dtype.names or ()}
    tensors |= {f"circuit.{name}": array for name, array in state.circuit._asdict().items() if name != "recent"}
    tensors |= {f"traces.{name}": array for name, array in state.traces._asdict().items()}
    tensors = {name: array.astype(np.uint8) if array.dtype == np.bool_ else array for name, array in tensors.items()}
    metadata = _describe(circuit, long_term, training, seed, data)
    save_tensors(path, tensors, kind=_KIND, metadata=metadata, keep_previous=True)


def load_checkpoint(
    path: Path, *, circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> TrainingState:
    """Load the state of a training; refused if it belongs to another training.

    If the file is missing or damaged, training resumes from the previous version, with a warning.
    """
    wanted = _describe(circuit, long_term, training, seed, data)
    return load_newest(path, lambda one: _load(one, wanted, circuit))


def _load(path: Path, wanted: Mapping[str, str], circuit: Circuit) -> TrainingState:
    tensors, metadata = read_tensors(path, kind=_KIND)
    refuse_another_training(path, metadata, wanted)
    try:
        state = _state(tensors, circuit)
        check_training_state(state, circuit)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a usable checkpoint: {error}") from error
    return state


def _state(tensors: Mapping[str, NDArray[Any]], circuit: Circuit) -> TrainingState:
    names = {"resting", "n_seen", *(f"recent.{name}" for name in recent_dtype("float32").names or ())}
    names |= {f"circuit.{name}" for name in CircuitState._fields if name != "recent"}
    names |= {f"traces.{name}" for name in LongTermState._fields}
    check.require(set(tensors) == names, "the file", "hold the arrays of a training", sorted(tensors))
    k, dtype = circuit.n_neurons, tensors["resting"].dtype.name
    check.one_of("resting.dtype", dtype, ("float32", "float64"))
    recent = np.zeros(k, recent_dtype(dtype))
    for name in recent.dtype.names or ():
        recent[name] = check.array(name, tensors[f"recent.{name}"], shape=(k,), dtype=recent.dtype[name])
    rest = {name: tensors[f"circuit.{name}"] for name in CircuitState._fields if name != "recent"}
    traces = {name: tensors[f"traces.{name}"] for name in LongTermState._fields}
    for name in _MARKS:
        check.require(bool((traces[name] <= 1).all()), name, "be 0 or 1 everywhere", traces[name].max())
    traces |= {name: traces[name].astype(np.bool_) for name in _MARKS}
    n_seen = check.array("n_seen", tensors["n_seen"], shape=(1,), dtype=np.int64)
    return TrainingState(
        tensors["resting"], CircuitState(recent=recent, **rest), LongTermState(**traces), int(n_seen[0])
    )


def _describe(
    circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> dict[str, str]:
    params = {"circuit": asdict(circuit), "long_term": asdict(long_term), "training": asdict(training)}
    return {
        "params": json.dumps(params, sort_keys=True),
        "seed": str(seed),
        "data": data,
        "springback_version": __version__,
    }
