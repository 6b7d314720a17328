"""What a model remembers of its stream, on disk, and where in the stream that was, so that a later run can continue."""

from pathlib import Path

import msgspec
import numpy as np

from springback.check import DataError
from springback.live.models.follower import Follower
from springback.live.position import Position
from springback.outside import from_json
from springback.storage import read_tensors, save_tensors

KIND = "stream state"
_LARGEST = 2**31


def save_state(
    path: Path, follower: Follower, *, model: str, step_s: float | None, position: Position | None = None
) -> None:
    """Write the state, and the frame after which it is the state; `model` identifies the file of the model."""
    content = np.frombuffer(follower.get_state(), np.uint8)
    metadata = {"model": model, "step": repr(step_s)}
    if position is not None:
        metadata["position"] = msgspec.json.encode(position).decode()
    save_tensors(path, {"state": content}, kind=KIND, metadata=metadata)


def load_state(path: Path, follower: Follower, *, model: str, step_s: float | None) -> Position | None:
    """Continue from a state of the same model in the same unit of time; any other is refused.

    Returns where the stream was; None: the file does not say it.
    """
    arrays, metadata = read_tensors(path, kind=KIND, largest=_LARGEST)
    if metadata.get("model") != model:
        raise DataError(f"{path} is the state of another model, or of a model that has changed since; start without it")
    if (step := metadata.get("step")) != repr(step_s):
        told = "without the length of a step" if step == "None" else f"with a step of {step}"
        raise DataError(f"{path} was written {told}; use time in the same way")
    try:
        position = from_json(metadata["position"], Position) if "position" in metadata else None
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} says in an unknown way where the stream was: {error}") from error
    try:
        follower.set_state(arrays["state"].tobytes())
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} does not fit the model: {error}") from error
    return position
