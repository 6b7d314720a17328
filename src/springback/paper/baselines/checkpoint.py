"""Training that survives being killed: parameters, Adam's memory and the place in the data, as safetensors."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.paper.baselines.learning import Learner
from springback.paper.baselines.model_file import describe, read_tensors, set_weights, weights_of
from springback.paper.baselines.models import SequenceModel, State, StillModel
from springback.storage import save_tensors

_KIND = "baseline checkpoint"


@dataclass(frozen=True)
class Progress:
    """Where training stands: lessons and frames done, and the state of a recurrent network between two lessons."""

    lessons_done: int = 0
    frames_seen: int = 0
    state: State = ()


def describe_training(model: StillModel | SequenceModel, training: Any, *, seed: int, data: str) -> dict[str, str]:
    """Which training this is: the model and the weights it begins with, how it learns, from what, in which order."""
    digest = hashlib.sha256()
    for array in weights_of(model).values():
        digest.update(array.data)
    learns = {"training": json.dumps(asdict(training), sort_keys=True), "first_weights": digest.hexdigest()[:12]}
    return {**describe(model, seed=seed, data=data), **learns}


def save_checkpoint(
    path: Path,
    model: StillModel | SequenceModel,
    learner: Learner,
    progress: Progress,
    described: Mapping[str, str],
) -> None:
    """Write where a training stands; what stood there before is kept as `NAME.previous`."""
    place = torch.tensor([progress.lessons_done, progress.frames_seen])
    tensors = {f"weights.{name}": array for name, array in weights_of(model).items()}
    tensors |= {f"adam.{name}": array for name, array in learner.moments().items()}
    tensors |= {f"state.{number}": part.contiguous().numpy() for number, part in enumerate(progress.state)}
    save_tensors(path, {**tensors, "place": place.numpy()}, kind=_KIND, metadata=described, keep_previous=True)


def resume(
    path: Path,
    model: StillModel | SequenceModel,
    learner: Learner,
    described: Mapping[str, str],
) -> Progress:
    """Set model and learner to where that training stood; refused if it was another training."""
    tensors, metadata = read_tensors(path, _KIND)
    for name, value in described.items():
        if metadata.get(name) != value:
            raise DataError(
                f"{path} is of another training: its {name} is {metadata.get(name)}, not {value}; "
                "delete it to begin anew"
            )
    try:
        set_weights(model, _part(tensors, "weights."))
        learner.set_moments(_part(tensors, "adam."))
        lessons_done, frames_seen = check.array("place", tensors["place"], shape=(2,), dtype=np.int64)
        parts = _part(tensors, "state.")
        state = [
            torch.from_numpy(check.array("state", parts[name], shape=(1, None, None), dtype=np.float32))
            for name in sorted(parts)
        ]
    except (KeyError, ValueError) as error:
        raise DataError(f"{path} is not a usable checkpoint: {error}") from error
    return Progress(int(lessons_done), int(frames_seen), tuple(state))


def _part(tensors: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
