"""The one interface of every model that follows a stream; `springback.testing.check_stream_model` checks it."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from springback.streaming.pace import MemoryIn
from springback.streaming.records import Followed


class StreamModel(ABC):
    """A model that follows one stream: heads, estimators, exported networks and circuits.

    `step` answers a frame and moves the model. `track` answers a recorded stream on a copy of the present state.
    `relax` only lets time pass, and `reset` returns to rest. Splitting a stream into calls in any way gives the same
    answers. A frame that is refused leaves the model exactly as it was.

    A class says what its answers are about in `classes_`, and how many numbers a frame has in `n_features_in_`.

    Examples
    --------
    >>> from springback.heads import ElasticHead
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2))
    >>> isinstance(head, StreamModel), head.classes_, head.n_features_in_
    (True, array([0, 1]), 2)
    """

    classes_: NDArray[Any]
    """What the answers are about, (K,)."""

    n_features_in_: int
    """How many numbers a frame has."""

    memory_in_: MemoryIn = "frames"
    """The unit in which time is counted: frames, which time stamps are turned into, or the unit of time stamps."""

    @property
    @abstractmethod
    def memory_(self) -> float | None:
        """Time constant of the memory, in the unit `memory_in_`; None if it has no single one."""

    @abstractmethod
    def step(self, x: Any, time: Any = None) -> NDArray[Any]:
        """Class probabilities (K,) of the next frame; moves the model."""

    @abstractmethod
    def track(self, X: Any, times: Any = None) -> NDArray[Any]:
        """Class probabilities (T, K) of a recorded stream, on a copy of the present state."""

    @abstractmethod
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track`, with the answers of the frozen model, and how new every frame is.

        Parameters
        ----------
        in_place : bool
            Move the model itself instead of a copy of its state.
        """

    @abstractmethod
    def relax(self, elapsed: Any) -> Self:
        """Let time pass without a frame: in the unit of the time stamps, if there were any, and in frames otherwise."""

    @abstractmethod
    def reset(self) -> Self:
        """Return to rest, and forget the past."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write the model and the state of its stream to a file."""

    @classmethod
    @abstractmethod
    def load(cls, path: str | Path) -> Self:
        """The model in a file, in the state in which it was saved; nothing in the file is executed."""

    @abstractmethod
    def get_state(self) -> bytes:
        """The state of the stream as bytes, for a store or another process."""

    @abstractmethod
    def set_state(self, state: bytes) -> Self:
        """Continue from a state that `get_state` returned, of this model or of one with the same sizes."""

    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The class of every frame of a recorded stream, on a copy of the present state."""
        return np.asarray(self.classes_[self.track(X, times).argmax(axis=-1)])

    def labels_of(self, followed: Followed) -> NDArray[Any]:
        """The class of every answer of `track_response`, or what the model calls a frame that shows none of them."""
        return np.asarray(self.classes_[followed.posterior.argmax(axis=-1)])

    @property
    def possible_labels_(self) -> tuple[Any, ...]:
        """All that the model can answer: the classes, and what it calls a frame that shows none of them."""
        return tuple(np.asarray(self.classes_).tolist())

    @property
    def frame_shape_(self) -> tuple[int, ...]:
        """Shape of one frame."""
        return (self.n_features_in_,)

    @property
    def frame_dtype_(self) -> np.dtype[Any]:
        """Dtype of one frame; frames of another are converted, unless they are brightness 0 ... 255 (uint8)."""
        return np.dtype(np.float64)

    @property
    def column_names_(self) -> tuple[str, ...] | None:
        """Names of the columns that the model was fitted with; None if they had none."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(map(str, names))
