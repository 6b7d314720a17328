"""Spiking networks on disk, with all parameters that are needed to run them again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.outside import from_json
from springback.spiking.model import SpikingModel
from springback.spiking.params import Circuit, IntrinsicPlasticity, LongTermStdp, Presentation, ShortTermStdp, Streaming
from springback.spiking.presets import Preset
from springback.spiking.weights import Weights
from springback.storage import DamagedError, read_tensors, save_tensors
from springback.version import __version__

KIND = "spiking model"
_TAU = "memory_ms"

_SHORTEST_MS, _LONGEST_MS = 1e-6, 1e12
_LARGEST = 1e7
_MOST_STEPS = 10**6


STATE = "state."
"""How the names of arrays begin that hold the position in a stream, if a file has one."""


def save_model(
    model: SpikingModel,
    path: Path,
    *,
    metadata: Mapping[str, str] | None = None,
    state: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write a model and further `metadata`; a file that it replaces is kept next to it as `NAME.previous`.

    Parameters
    ----------
    state : Mapping[str, NDArray[Any]] | None
        The position in a stream, as from `place_arrays`.
    """
    preset = model.preset
    tensors = {**model.weights._asdict(), "neuron_labels": model.neuron_labels}
    tensors |= {f"{STATE}{name}": array for name, array in (state or {}).items()}
    tau = preset.short_term.memory_ms
    if isinstance(tau, np.ndarray):
        tensors[_TAU] = tau.astype(np.float64)
    params = {
        "preset": asdict(preset) | {"short_term": asdict(preset.short_term) | {_TAU: None if np.ndim(tau) else tau}},
        "classes": model.classes.tolist(),
        "seed": model.seed,
        "data": model.data,
        "n_seen": model.n_seen,
    }
    about = {"params": json.dumps(params, sort_keys=True, allow_nan=False), "springback_version": __version__}
    save_tensors(path, tensors, kind=KIND, metadata={**(metadata or {}), **about}, keep_previous=True)


def load_model(path: Path) -> SpikingModel:
    """Load a model; every value is checked. The state of a stream that the file may hold is left out."""
    return load_with_state(path)[0]


def load_with_state(path: Path) -> tuple[SpikingModel, dict[str, NDArray[Any]]]:
    """A model, and the arrays of its state in a stream, not checked yet; none if the file has no state."""
    tensors, metadata = read_tensors(path, kind=KIND)
    state = {name: tensors.pop(name) for name in list(tensors) if name.startswith(STATE)}
    model = _model_of(path, tensors, metadata)
    return model, {name.removeprefix(STATE): array for name, array in state.items()}


def _model_of(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> SpikingModel:
    try:
        stored = from_json(metadata.get("params", ""), _Stored)
        _check_ranges(stored.preset)
        short_term = stored.preset.short_term
        names = {"resting", "theta", "neuron_labels", *([_TAU] if short_term.memory_ms is None else [])}
        check.require(set(tensors) == names, "the file", f"hold {', '.join(sorted(names))}", sorted(tensors))
        preset = msgspec.structs.asdict(stored.preset) | {"short_term": _short_term(short_term, tensors.get(_TAU))}
        return SpikingModel(
            preset=Preset(**preset),
            weights=Weights(tensors["resting"], tensors["theta"]),
            neuron_labels=tensors["neuron_labels"],
            classes=_classes(stored.classes),
            seed=stored.seed,
            data=stored.data,
            n_seen=stored.n_seen,
        )
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise DamagedError(f"{path} is not a usable model: {error}") from error


class _StoredShortTerm(msgspec.Struct, forbid_unknown_fields=True):
    """`ShortTermStdp` as JSON; time constants of neurons or synapses are an array of the file, and None here."""

    pull: float
    weight_dependence: float
    memory_ms: float | None
    tau_trace_ms: float
    efficacy_max: float | None
    intrinsic: IntrinsicPlasticity | None
    delay_ms: float | None = None
    pause_ms: float = 200.0


class _StoredPreset(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    circuit: Circuit
    long_term: LongTermStdp
    training: Presentation
    testing: Presentation
    streaming: Streaming
    static: Streaming
    short_term: _StoredShortTerm
    shuffled: bool
    epochs: int
    rate_decay: float = 1.0
    threshold_mv: float | None = None


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    preset: _StoredPreset
    classes: list[int | str]
    seed: int
    data: str
    n_seen: int


def _classes(stored: list[int | str]) -> NDArray[Any]:
    kinds = {type(one) for one in stored}
    check.require(len(kinds) == 1, "classes", "be whole numbers or strings, not both", len(kinds))
    return np.array(stored)


def _short_term(stored: _StoredShortTerm, tau: NDArray[np.float64] | None) -> ShortTermStdp:
    plain = msgspec.structs.asdict(stored)
    if tau is None:
        return ShortTermStdp(**plain)
    check.array(_TAU, tau, shape=(None,) * tau.ndim, dtype=np.float64)
    for one in (tau.min(initial=1), tau.max(initial=1)):
        check.real(_TAU, one, low=_SHORTEST_MS, high=_LONGEST_MS)
    return replace(ShortTermStdp(**plain | {_TAU: 1.0}), memory_ms=tau)


def _check_ranges(stored: _StoredPreset) -> None:
    """Refuse extreme numbers: a file must not be able to request too much memory or time."""
    shown = (stored.training, stored.testing, stored.streaming, stored.static)
    for record in (stored.circuit, stored.long_term, *shown):
        _check_numbers(record)
    _check_numbers(stored.short_term)
    for one in shown:
        n_steps = (one.show_ms + one.rest_ms) / stored.circuit.dt_ms
        check.real("the steps of one image", n_steps, high=_MOST_STEPS)


def _check_numbers(record: Any) -> None:
    for name, value in msgspec.to_builtins(record).items():
        if isinstance(value, dict):
            _check_numbers(getattr(record, name))
        elif isinstance(value, int | float) and name.endswith("_ms") and value != 0:
            check.real(name, value, low=_SHORTEST_MS, high=_LONGEST_MS)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            check.real(name, value, low=-_LARGEST, high=_LARGEST)
