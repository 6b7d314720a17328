"""One frame at a time, for live data: a model and a state are checked once, and then every frame only for itself.

An ordinary frame is a row of floats whose largest entry needs no scaling. It is copied into a buffer and followed at
once. Any other frame or time stamp is left to `algorithm.step`, which scales it, or refuses it in one sentence.
"""

from collections.abc import Callable
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.compiled import for_types_of, njit
from springback.elastic._dense import DenseState, moving, run_dense
from springback.elastic._frames import bounds_of_frames
from springback.elastic._reading import scratch_of
from springback.elastic.algorithm import Model, State, check_state, step
from springback.streaming.pace import MemoryIn, next_times
from springback.streaming.time_stamps import LAST_COUNT

_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


@njit(cache=True)
def _copy_if_ordinary(x: Any, smallest: float, largest: float, frame: Any) -> bool:
    """Copy x (n,) into the frame (1, n) if its largest absolute value is within the bounds, and NaN is nowhere."""
    too_large = large_enough = False
    for j in range(x.size):
        size = abs(x[j])
        too_large |= not size <= largest
        large_enough |= size >= smallest
        frame[0, j] = x[j]
    return large_enough and not too_large


class Stepper:
    """Follows the frames of one stream, moving the given state itself; it serves as long as model and state are these.

    Examples
    --------
    >>> from springback.elastic.algorithm import init, prepare
    >>> from springback.elastic.params import Elasticity
    >>> model = prepare(Elasticity(kappa=5.0), np.eye(2))
    >>> Stepper(model, init(model)).step([1.0, 0.0]).round(3)
    array([0.993, 0.007])
    """

    def __init__(self, model: Model, state: State, memory_in: MemoryIn = "frames") -> None:
        check_state(model, state)
        self._memory_in = memory_in
        self.model, self.state = model, state
        self._is_quick = isinstance(state, DenseState)
        n, k = model.constants.by_feature.shape
        own = model.constants.by_feature.dtype
        self._shape, self._answer, self._clock = (n,), ((1, k), own), state.clock
        frame = np.empty((1, n), own)
        # A row of an unusual layout is copied here, so that no further function is compiled for it.
        self._rows = {dtype: np.empty(n, dtype) for dtype in _FLOATS}
        self._time = np.empty(1)
        chosen = model.constants, state, scratch_of(model.constants), moving(model.constants)
        self._given = (*chosen, frame, self._time)
        self._unused = np.empty(1, own), np.empty(1)
        self._ordinary = (*bounds_of_frames(model.constants), frame)
        self._run: Callable[..., Any] | None = None

    def step(self, x: Any, time: Any = None) -> NDArray[Any]:
        """Posterior (K,) of the next frame x (n,), before its own pull; then it pulls."""
        pace = None
        if time is not None or self._memory_in == "time":
            stamps, pace = next_times("time", 1, time, float(self._clock[0]), self._clock[1:], self._memory_in)
            time = float(stamps[0])
        now = self._time_of(time)
        if now is None or not self._takes(x):
            answer = np.asarray(step(self.model, self.state, x, time, in_place=True)[1].posterior[0])
            if pace is not None:
                self._clock[1:] = pace
            return answer
        self._time[0] = now
        posterior = np.empty(*self._answer)
        if self._run is None:
            self._run = for_types_of(run_dense, *self._given, posterior, *self._unused)
        self._run(*self._given, posterior, *self._unused)
        if pace is not None:
            self._clock[1:] = pace
        return np.asarray(posterior[0])

    def _time_of(self, time: Any) -> float | None:
        """The time of the next frame; None if it is anything but a number that may follow the last."""
        clock = float(self._clock[0])
        if time is None:
            if isnan(clock):
                return 0.0
            return clock + 1 if abs(clock) + 1 <= LAST_COUNT else None
        may_follow = isinstance(time, float) and isfinite(time) and not time < clock
        return float(time) if may_follow else None

    def _takes(self, x: Any) -> bool:
        """Whether a frame is ordinary; it is then in the buffer."""
        if not self._is_quick or type(x) is not np.ndarray or x.shape != self._shape:
            return False
        row = self._rows.get(x.dtype)
        if row is None:
            return False
        channels = self.model.channels
        if channels is not None:
            if not np.isfinite(x).all():
                return False
            x = channels.scaled(x)
        if not x.flags.carray:
            row[:] = x
            x = row
        return _copy_if_ordinary(x, *self._ordinary)
