"""What follows a stream: a model with its memory, and what it must be given."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.live.preparation import Preparation
from springback.records import Followed


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What a model may be told besides its file.

    Parameters
    ----------
    classes : tuple[str, ...] | None
        Names of the classes, if the file has none or others are wanted.
    preparation : dict[str, Any]
        How pictures or sound become the input of a network, where the file does not say it; see
        `springback.live.preparation`.

    Examples
    --------
    >>> ModelOptions(classes=("cat", "dog")).preparation
    {}
    """

    classes: tuple[str, ...] | None = None
    preparation: dict[str, Any] = field(default_factory=dict)


class Follower(ABC):
    """A model that follows one stream.

    Its `classes` are what the answers are about, `preparation` is what it takes, and `memory` is the time constant
    of its memory, if it has a single one.

    Examples
    --------
    >>> sorted(Follower.__abstractmethods__)
    ['answer', 'get_state', 'set_state']
    """

    name: str
    classes: tuple[Any, ...]
    preparation: Preparation
    memory: float | None
    n_features: int | None = None
    """Width of a row, if it takes rows."""

    feature_names: tuple[str, ...] | None = None
    """Names of the columns, if it knows them."""

    @property
    def answerable(self) -> tuple[Any, ...]:
        """What its answers can be: the classes, and what it calls a novel frame, if it does."""
        return self.classes

    @abstractmethod
    def answer(self, inputs: NDArray[Any], times: NDArray[np.float64] | None) -> Followed:
        """The answers to the next frames, which move the model; refused frames raise a `FrameError` and move nothing.

        Parameters
        ----------
        inputs : NDArray[Any]
            Frames as `preparation` makes them, (T, ...).
        times : NDArray[np.float64] | None
            Their times in the unit of `memory`, (T,); None: one step apart.
        """

    @abstractmethod
    def get_state(self) -> bytes:
        """What the model remembers of its stream."""

    @abstractmethod
    def set_state(self, content: bytes) -> None:
        """Continue from what `get_state` returned; the state of another model is refused."""

    def labels(self, followed: Followed) -> Sequence[Any]:
        """The answer to every frame, in words."""
        return [self.classes[one] for one in followed.posterior.argmax(axis=1)]


@dataclass(frozen=True, kw_only=True)
class ModelKind:
    """A kind of model file.

    Parameters
    ----------
    name : str
        Of the kind, in messages.
    suffixes : tuple[str, ...]
        Endings of file names.
    open : Callable[[Path, ModelOptions], Follower]
        Opens a file.
    """

    name: str
    suffixes: tuple[str, ...]
    open: Callable[[Path, ModelOptions], Follower]
