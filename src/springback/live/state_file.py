"""What a model remembers of its stream, on disk, and where in the stream that was, so that a later run can continue."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.files.container import read, write
from springback.live.follower import Follower
from springback.live.position import Position


@dataclass(frozen=True, eq=False)
class SavedStream:
    """The state of a follower, after which frame it is the state, and what it was followed with.

    Parameters
    ----------
    model : str
        Identifies the file of the model.
    step_s : float | None
        The length of a step.
    """

    model: str
    step_s: float | None
    position: Position | None
    state: NDArray[np.uint8]


def save_state(
    path: Path, follower: Follower, *, model: str, step_s: float | None, position: Position | None = None
) -> None:
    """Write the state, and the frame after which it is the state; `model` identifies the file of the model."""
    content = np.frombuffer(follower.model.get_state(), np.uint8)
    write(path, "state", SavedStream(model, step_s, position, content))


def load_state(path: Path, follower: Follower, *, model: str, step_s: float | None) -> Position | None:
    """Continue from a state of the same model in the same unit of time; any other is refused.

    Returns where the stream was; None: the file does not say it.
    """
    saved = read(path, "state", SavedStream)
    if saved.model != model:
        raise DataError(f"{path} is the state of another model, or of a model that has changed since; start without it")
    if saved.step_s != step_s:
        told = "without the length of a step" if saved.step_s is None else f"with a step of {saved.step_s}"
        raise DataError(f"{path} was written {told}; use time in the same way")
    try:
        follower.model.set_state(saved.state.tobytes())
    except (TypeError, ValueError) as error:
        raise DataError(f"{path} does not fit the model: {error}") from error
    return saved.position
