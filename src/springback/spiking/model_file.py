"""Spiking networks on disk, with all parameters that are needed to run them again."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.container import read, write
from springback.files.models import SavedRecord
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset
from springback.spiking.weights import Weights

_SHORTEST_MS, _LONGEST_MS = 1e-6, 1e12
_LARGEST = 1e7
_MOST_STEPS = 10**6


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedSpikingModel(SavedRecord):
    """A `SpikingModel`, and the position in a stream, if there is one, as from `place_arrays`."""

    preset: Preset
    resting: NDArray[Any]
    theta: NDArray[Any]
    neuron_labels: NDArray[np.int64]
    classes: NDArray[Any]
    seed: int
    data: str
    n_seen: int


def save_spiking_model(
    model: SpikingModel,
    path: Path,
    *,
    about: Mapping[str, str] | None = None,
    state: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write a model and notes `about` it; a file that it replaces is kept next to it as `NAME.previous`.

    Parameters
    ----------
    state : Mapping[str, NDArray[Any]] | None
        The position in a stream, as from `place_arrays`.
    """
    preset = model.preset
    if isinstance(tau := preset.short_term.memory_ms, np.ndarray):
        preset = replace(preset, short_term=replace(preset.short_term, memory_ms=tau.astype(np.float64)))
    record = SavedSpikingModel(
        preset=preset,
        resting=model.weights.resting,
        theta=model.weights.theta,
        neuron_labels=model.neuron_labels,
        classes=model.classes,
        seed=model.seed,
        data=model.data,
        n_seen=model.n_seen,
        state=dict(state or {}),
    )
    write(path, "model", record, about=about, keep_previous=True)


def load_spiking_model(path: Path) -> SpikingModel:
    """Load a model; every value is checked. The state of a stream that the file may hold is left out."""
    return load_with_state(path)[0]


def load_with_state(path: Path) -> tuple[SpikingModel, dict[str, NDArray[Any]]]:
    """A model, and the arrays of its state in a stream, not checked yet; none if the file has no state."""

    def checked(record: SavedSpikingModel) -> tuple[SpikingModel, dict[str, NDArray[Any]]]:
        _check_ranges(record.preset)
        check.require(record.classes.dtype.kind in "iU", "classes", "be whole numbers or strings", record.classes.dtype)
        model = SpikingModel(
            preset=record.preset,
            weights=Weights(record.resting, record.theta),
            neuron_labels=record.neuron_labels,
            classes=record.classes,
            seed=record.seed,
            data=record.data,
            n_seen=record.n_seen,
        )
        return model, record.state

    return read(path, "model", SavedSpikingModel, checked)


def _check_ranges(preset: Preset) -> None:
    """Refuse extreme numbers: a file must not be able to request too much memory or time."""
    _check_numbers(preset)
    for one in (preset.training, preset.testing, preset.streaming, preset.static):
        n_steps = (one.show_ms + one.rest_ms) / preset.circuit.dt_ms
        check.real("the steps of one image", n_steps, high=_MOST_STEPS)


def _check_numbers(record: Any) -> None:
    for field in fields(record):
        name, value = field.name, getattr(record, field.name)
        if is_dataclass(value):
            _check_numbers(value)
        elif isinstance(value, np.ndarray):
            for one in (value.min(initial=1), value.max(initial=1)):
                check.real(name, one, low=_SHORTEST_MS, high=_LONGEST_MS)
        elif isinstance(value, int | float) and name.endswith("_ms") and value != 0:
            check.real(name, value, low=_SHORTEST_MS, high=_LONGEST_MS)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            check.real(name, value, low=-_LARGEST, high=_LARGEST)
