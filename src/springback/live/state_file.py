"""What a model remembers of its stream, on disk, so that a later run can continue."""

from pathlib import Path

import numpy as np

from springback.check import DataError
from springback.live.models.follower import Follower
from springback.storage import read_tensors, save_tensors

KIND = "stream state"
_LARGEST = 2**31


def save_state(path: Path, follower: Follower, *, model: str, step_s: float | None) -> None:
    """Write the state; `model` identifies the file of the model."""
    content = np.frombuffer(follower.get_state(), np.uint8)
    save_tensors(path, {"state": content}, kind=KIND, metadata={"model": model, "step": repr(step_s)})


def load_state(path: Path, follower: Follower, *, model: str, step_s: float | None) -> None:
    """Continue from a state of the same model in the same unit of time; any other is refused."""
    arrays, metadata = read_tensors(path, kind=KIND, largest=_LARGEST)
    if metadata.get("model") != model:
        raise DataError(
            f"{path} is the state of another model, or of a model that has changed since; leave --state out"
        )
    if metadata.get("step") != repr(step_s):
        raise DataError(f"{path} was written with --step {metadata.get('step')}; give the same --step")
    try:
        follower.set_state(arrays["state"].tobytes())
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} does not fit the model: {error}") from error
