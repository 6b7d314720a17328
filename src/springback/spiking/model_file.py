"""Spiking networks on disk, and training that survives being killed."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.spiking.network import Weights, check_weights
from springback.spiking.params import Circuit, ExcitatoryNeuron, InhibitoryNeuron, LongTermStdp, Presentation
from springback.spiking.state import CircuitState, LongTermState, recent_dtype
from springback.spiking.training import TrainingState
from springback.storage import open_tensors, save_tensors
from springback.version import __version__


@dataclass(frozen=True, kw_only=True, eq=False)
class SpikingModel:
    """A trained network with everything it takes to run it again.

    weights        resting weights and thresholds
    neuron_labels  int64 (n_neurons,), the class of each neuron, -1 for none; from training data
    seed, data     what it was trained with
    """

    circuit: Circuit
    long_term: LongTermStdp
    training: Presentation
    weights: Weights
    neuron_labels: NDArray[np.int64]
    seed: int
    data: str

    def __post_init__(self) -> None:
        check_weights(self.weights, self.circuit)
        labels = check.array("neuron_labels", self.neuron_labels, shape=(self.circuit.n_neurons,), dtype=np.int64)
        check.require(bool(((labels >= -1) & (labels < 1000)).all()), "neuron_labels", "lie in -1 ... 999", labels)


def save_model(model: SpikingModel, path: Path) -> None:
    """Write a model; the file it replaces is kept beside it as `NAME.previous`."""
    tensors = {**model.weights._asdict(), "neuron_labels": model.neuron_labels}
    metadata = _describe(model.circuit, model.long_term, model.training, model.seed, model.data)
    save_tensors(path, tensors, kind="spiking model", metadata=metadata, keep_previous=True)


def load_model(path: Path) -> SpikingModel:
    """A model from its file, every value checked."""
    tensors, metadata = _read(path, "spiking model")
    try:
        circuit, long_term, training = _params(metadata)
        for name in ("resting", "theta", "neuron_labels"):
            check.require(name in tensors, "the file", f"hold {name}", sorted(tensors))
        return SpikingModel(
            circuit=circuit,
            long_term=long_term,
            training=training,
            weights=Weights(tensors["resting"], tensors["theta"]),
            neuron_labels=tensors["neuron_labels"],
            seed=int(metadata["seed"]),
            data=metadata["data"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is not a usable model: {error}") from error


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
    """Write where training stands, so that `load_checkpoint` can go on from exactly there."""
    recent = state.circuit.recent
    tensors: dict[str, NDArray[Any]] = {"resting": state.resting, "n_seen": np.array([state.n_seen])}
    tensors |= {f"recent.{name}": np.ascontiguousarray(recent[name]) for name in recent.dtype.names or ()}
    tensors |= {f"circuit.{name}": array for name, array in state.circuit._asdict().items() if name != "recent"}
    tensors |= {f"traces.{name}": array for name, array in state.traces._asdict().items()}
    tensors = {name: array.astype(np.uint8) if array.dtype == np.bool_ else array for name, array in tensors.items()}
    metadata = _describe(circuit, long_term, training, seed, data)
    save_tensors(path, tensors, kind="training checkpoint", metadata=metadata, keep_previous=True)


def load_checkpoint(
    path: Path, *, circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> TrainingState:
    """Where a training stood; refused if it was another training."""
    tensors, metadata = _read(path, "training checkpoint")
    wanted = _describe(circuit, long_term, training, seed, data)
    for name, value in wanted.items():
        if metadata.get(name) != value:
            found = metadata.get(name)
            raise DataError(
                f"{path} is of another training: its {name} is {found}, not {value}; delete it to begin anew"
            )
    try:
        recent = np.zeros(circuit.n_neurons, recent_dtype(tensors["resting"].dtype.name))
        for name in recent.dtype.names or ():
            recent[name] = tensors[f"recent.{name}"]
        rest = {name: tensors[f"circuit.{name}"] for name in CircuitState._fields if name != "recent"}
        traces = {name: tensors[f"traces.{name}"] for name in LongTermState._fields}
        traces |= {name: traces[name].astype(np.bool_) for name in ("is_touched", "is_fired")}
        return TrainingState(
            tensors["resting"], CircuitState(recent=recent, **rest), LongTermState(**traces), int(tensors["n_seen"][0])
        )
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is not a usable checkpoint: {error}") from error


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


def _params(metadata: Mapping[str, str]) -> tuple[Circuit, LongTermStdp, Presentation]:
    params = json.loads(metadata["params"])
    circuit = params["circuit"]
    circuit["excitatory"] = ExcitatoryNeuron(**circuit["excitatory"])
    circuit["inhibitory"] = InhibitoryNeuron(**circuit["inhibitory"])
    return Circuit(**circuit), LongTermStdp(**params["long_term"]), Presentation(**params["training"])


def _read(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    with open_tensors(path, kind=kind) as file:
        return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118
