"""Training that survives being killed: parameters, the optimiser's memory and the place in the data, as safetensors."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.files.checkpoints import read_checkpoint, write_checkpoint
from springback_paper.baselines.learning import Learner
from springback_paper.baselines.model_file import describe, set_weights, weights_of
from springback_paper.baselines.models import SequenceModel, State, StillModel

_STATE_PARTS = {"rnn": 1, "lstm": 2}


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
    path: Path, model: StillModel | SequenceModel, learner: Learner, progress: Progress, described: Mapping[str, str]
) -> None:
    """Write the state of a training; the one before it is kept as `NAME.previous`."""
    place = torch.tensor([progress.lessons_done, progress.frames_seen])
    tensors = {f"weights.{name}": array for name, array in weights_of(model).items()}
    tensors |= {f"adam.{name}": array for name, array in learner.moments().items()}
    tensors |= {f"state.{number}": part.contiguous().numpy() for number, part in enumerate(progress.state)}
    write_checkpoint(path, described, {**tensors, "place": place.numpy()})


def resume(
    path: Path,
    model: StillModel | SequenceModel,
    learner: Learner,
    described: Mapping[str, str],
    *,
    n_lessons: int,
    state_shape: tuple[int, int, int] | None = None,
) -> Progress:
    """Set model and learner to the state of that training; refused if it was another training.

    If the file is missing or damaged, training continues from the previous version, with a warning.

    Parameters
    ----------
    n_lessons : int
        Of the whole training.
    state_shape : tuple[int, int, int] | None
        Of each part of a recurrent network's state.
    """

    def resumed(arrays: dict[str, NDArray[Any]]) -> Progress:
        set_weights(model, _part(arrays, "weights."))
        learner.set_moments(_part(arrays, "adam."))
        place = check.array("place", arrays.get("place"), shape=(2,), dtype=np.int64)
        lessons_done = check.integer("place[0]", place[0], low=0, high=n_lessons)
        frames_seen = check.integer("place[1]", place[1], low=0, high=2**62)
        state = _state(_part(arrays, "state."), state_shape, model.kind if lessons_done else "")
        return Progress(lessons_done, frames_seen, state)

    return read_checkpoint(path, described, resumed)


def _state(parts: Mapping[str, NDArray[Any]], shape: tuple[int, int, int] | None, kind: str) -> State:
    """The parts of a recurrent network's state: one for an RNN, two for an LSTM, none otherwise or before it began."""
    names = ["0", "1"][: _STATE_PARTS.get(kind, 0)]
    check.require(sorted(parts) == names, "the state", f"have {len(names)} parts", sorted(parts))
    return tuple(
        torch.from_numpy(check.array(f"state.{name}", parts[name], shape=shape or (), dtype=np.float32))
        for name in names
    )


def _part(tensors: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
