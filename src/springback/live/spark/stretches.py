"""Stretches of frames, many of the same length in one call of the model, and what it refuses."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.check import FrameError
from springback.heads.keyed_states import States
from springback.live.spark.frames import UsableRows
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel

_FRAMES_AT_ONCE = 2**21
"""Bytes of the frames in one call of the model: larger pieces of memory cost more than calls."""


class KeyStretch(NamedTuple):
    """Frames of a key, from one place to another, before which its state was this."""

    start: int
    stop: int
    state: Any


class Run:
    """Follows stretches of frames, and finds the frames with which the model cannot compute.

    Parameters
    ----------
    order : NDArray[np.int64]
        The frames that are followed, as numbers of `rows`: key by key, each key in the order of time.
    steps : NDArray[np.float64] | None
        Their times in steps of the memory.
    n_frames : int
        How many answers there are, those to frames that are not followed included.
    """

    def __init__(
        self,
        states: States[Any],
        model: StreamModel,
        rows: UsableRows,
        order: NDArray[np.int64],
        steps: NDArray[np.float64] | None,
        n_frames: int,
    ) -> None:
        self._states, self._model, self._rows, self._order, self._steps = states, model, rows, order, steps
        self._places = rows.numbers[order]
        words = any(isinstance(one, str) for one in model.possible_labels_)
        self.labels: NDArray[Any] = np.full(n_frames, "", object) if words else np.zeros(n_frames, np.int64)
        self.posterior, self.novelty = np.zeros((n_frames, 0)), np.full(n_frames, np.nan)
        self.adapted = np.zeros(n_frames, bool)
        self.refused: list[int] = []

    def all(self, stretches: Iterable[KeyStretch]) -> Iterator[tuple[int, Any]]:
        """Follow all stretches, those of the same length together; the state after each, by its last frame."""
        same: dict[int, list[KeyStretch]] = {}
        for one in stretches:
            same.setdefault(one.stop - one.start, []).append(one)
        for length, some in same.items():
            few = max(1, _FRAMES_AT_ONCE // (length * self._rows.row_bytes))
            at_once = min(few, self._states.streams_at_once)
            for begin in range(0, len(some), at_once):
                together = some[begin : begin + at_once]
                yield from zip((one.stop - 1 for one in together), self._follow(together), strict=True)

    def _follow(self, stretches: list[KeyStretch]) -> list[Any]:
        """The states after stretches of the same length; if the model refuses them, halves are tried."""
        at = np.array([range(start, stop) for start, stop, _ in stretches]).T
        try:
            frames = self._states.frames(self._rows[self._order[at.ravel()]].reshape(-1, *self._model.frame_shape_))
            steps = None if self._steps is None else self._steps[at]
            with warnings.catch_warnings():  # the columns are in the order of the names
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                followed, after = self._states.follow(
                    [one.state for one in stretches], frames.reshape(*at.shape, *frames.shape[1:]), steps
                )
        except FrameError:
            if len(stretches) > 1:
                return [self._follow([one])[0] for one in stretches]
            start, stop, state = stretches[0]
            middle = (start + stop) // 2
            if middle == start:
                self.refused.append(start)
                return [state]
            (state,) = self._follow([KeyStretch(start, middle, state)])
            return self._follow([KeyStretch(middle, stop, state)])
        self._answer(self._places[at.ravel()], followed)
        return after

    def _answer(self, places: NDArray[np.int64], followed: Followed) -> None:
        if not self.posterior.size:
            self.posterior = np.zeros((len(self.adapted), followed.posterior.shape[1]))
        self.posterior[places], self.novelty[places] = followed.posterior, followed.novelty
        self.labels[places], self.adapted[places] = self._model.labels_of(followed), True
