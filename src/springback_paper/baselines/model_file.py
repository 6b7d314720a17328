"""Baselines on disk: safetensors with what they are and what they learned from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.files.container import read, write
from springback_paper.baselines.models import MODELS, SequenceModel, StillModel

LARGEST_WEIGHT = 1e6
"""With larger weights, sums over a layer leave the range of float32."""


@dataclass(frozen=True, eq=False)
class SavedBaseline:
    """A baseline: which it is, its sizes, what it was trained with, and its parameters by name."""

    model: str
    shape: dict[str, int | float]
    seed: int
    data: str
    weights: dict[str, NDArray[np.float32]]


def save_baseline(model: StillModel | SequenceModel, path: Path, *, data: str, seed: int) -> None:
    """Write a model and what it was trained with; the file it replaces is kept as `NAME.previous`.

    Examples
    --------
    >>> import tempfile
    >>> from springback_paper.baselines.models import Lstm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_baseline(Lstm(n_hidden=3), Path(folder) / "lstm.safetensors", data="nothing", seed=0)
    ...     load_baseline(Path(folder) / "lstm.safetensors").shape
    {'n_hidden': 3}
    """
    record = SavedBaseline(model.kind, model.shape, seed, data, weights_of(model))
    write(path, "model", record, keep_previous=True)


def load_baseline(path: Path) -> StillModel | SequenceModel:
    """A model from its file, in eval mode; every shape is checked, and every number is finite."""
    return read(path, "model", SavedBaseline, _model)


def _model(saved: SavedBaseline) -> StillModel | SequenceModel:
    make = MODELS[check.one_of("model", saved.model, tuple(MODELS))]
    with torch.device("meta"):
        empty = make(**saved.shape)
        check.require(empty.shape == saved.shape, "shape", f"name {', '.join(empty.shape)}", saved.shape)
        _check_weights(empty, saved.weights)
    model = make(**saved.shape)
    set_weights(model, saved.weights)
    return model.eval()


def describe(model: StillModel | SequenceModel, *, seed: int, data: str) -> dict[str, str]:
    """What identifies a model that is trained."""
    return {
        "model": model.kind,
        "shape": json.dumps(model.shape, sort_keys=True),
        "seed": str(seed),
        "data": data,
    }


def weights_of(model: StillModel | SequenceModel) -> dict[str, NDArray[np.float32]]:
    """All parameters by name, as copies."""
    return {name: one.detach().contiguous().numpy().copy() for name, one in model.state_dict().items()}


def set_weights(model: StillModel | SequenceModel, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give the model these parameters: exactly its own names and shapes, finite float32."""
    _check_weights(model, arrays)
    model.load_state_dict({name: torch.from_numpy(one) for name, one in arrays.items()})


def _check_weights(model: StillModel | SequenceModel, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Also for a model on torch's "meta" device, which has shapes but takes no memory, whatever a file claims."""
    wanted = model.state_dict()
    check.require(set(arrays) == set(wanted), "the parameters", f"be {sorted(wanted)}", sorted(arrays))
    for name, one in wanted.items():
        array = check.array(name, arrays[name], shape=tuple(one.shape), dtype=np.float32)
        most = float(abs(array).max(initial=0))
        check.require(most <= LARGEST_WEIGHT, name, f"be at most {LARGEST_WEIGHT:g} in size", most)
