"""Baselines on disk: safetensors with what they are and what they learned from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from springback import check
from springback.outside import from_json
from springback.paper.baselines.models import MODELS, SequenceModel, StillModel
from springback.storage import DamagedError, read_tensors, save_tensors
from springback.version import __version__

_KIND = "baseline model"

LARGEST_WEIGHT = 1e6
"""With larger weights, sums over a layer leave the range of float32."""


def save_model(model: StillModel | SequenceModel, path: Path, *, data: str, seed: int) -> None:
    """Write a model and what it was trained with; the file it replaces is kept as `NAME.previous`.

    Examples
    --------
    >>> import tempfile
    >>> from springback.paper.baselines.models import Lstm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(Lstm(n_hidden=3), Path(folder) / "lstm.safetensors", data="nothing", seed=0)
    ...     load_model(Path(folder) / "lstm.safetensors").shape
    {'n_hidden': 3}
    """
    metadata = describe(model, seed=seed, data=data)
    save_tensors(path, weights_of(model), kind=_KIND, metadata=metadata, keep_previous=True)


def load_model(path: Path) -> StillModel | SequenceModel:
    """A model from its file, in eval mode; every shape is checked, and every number is finite."""
    tensors, metadata = read_tensors(path, kind=_KIND)
    try:
        kind = check.one_of("model", metadata.get("model"), tuple(MODELS))
        shape: dict[str, Any] = from_json(metadata.get("shape", ""), dict[str, int | float])
        with torch.device("meta"):
            empty = MODELS[kind](**shape)
            check.require(empty.shape == shape, "shape", f"name {', '.join(empty.shape)}", shape)
            _check_weights(empty, tensors)
        model = MODELS[kind](**shape)
        set_weights(model, tensors)
    except (TypeError, ValueError) as error:
        raise DamagedError(f"{path} is not a usable model: {error}") from error
    return model.eval()


def describe(model: StillModel | SequenceModel, *, seed: int, data: str) -> dict[str, str]:
    """What stands in the metadata of a file."""
    return {
        "model": model.kind,
        "shape": json.dumps(model.shape, sort_keys=True),
        "seed": str(seed),
        "data": data,
        "springback_version": __version__,
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
