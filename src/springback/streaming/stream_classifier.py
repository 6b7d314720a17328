"""What every method of this package shares: `step`, `track`, `reset`, `relax`, and the handling of time stamps.

A new method is one file with one class. It says what its state is (`_init`), how rows move it (`_run`, compiled) and,
if it has a notion of time, how it forgets (`_relax`).
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax as _softmax

from springback import check
from springback.check import FrameError, overflow
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import AT_REST, MemoryIn, elapsed_in_frames, next_times
from springback.streaming.row_scaling import real_numbers
from springback.streaming.time_stamps import UnitCheck, as_elapsed

State = tuple[NDArray[Any], ...]


def softmax(logits: NDArray[Any], sharpness: float = 1.0) -> NDArray[np.float64]:
    """Probabilities (T, K) from logits; `sharpness` multiplies the logits first.

    Examples
    --------
    >>> softmax(np.zeros((1, 2)))
    array([[0.5, 0.5]])
    """
    check.real("sharpness", sharpness, above=0)
    values = check.array("logits", np.asarray(logits, np.float64), shape=(None, None), dtype=np.float64)
    return np.asarray(_softmax(sharpness * values, axis=1))


def refuse_overflow(answers: NDArray[Any], *, of_rows: bool = False) -> None:
    """Refuse rows whose answers, (T, ...), are not finite; `of_rows`: they are those that the user gave, in order."""
    finite = np.isfinite(answers)
    if not finite.all():
        first = finite.reshape(len(finite), -1).all(axis=1).argmin()
        raise overflow(f"row {first}" if of_rows and len(finite) > 1 else "them")


class StreamClassifier(ABC):
    """A classifier that follows one stream, frame after frame, without labels.

    `step` answers one frame and moves the model. `track` answers a recorded stream on a copy of the present state.
    `reset` returns to rest, and `relax` only lets time pass. Splitting a stream into calls in any way gives the same
    answers. Rows with NaN or infinity, rows of another width and times that run backwards are refused as a whole, and
    the model is then exactly as it was before the call.

    Input: logits (T, K) of a frozen network, unless a subclass says otherwise. Probabilities can be passed as their
    logarithms, which are logits too.

    To add a method, derive a class from this one, or from `HeadClassifier` if it reads features. Write `_init` and
    `_run`, and `_relax` if the method has a notion of time. All settings need defaults, so that the tests of the
    protocol can make one.

    Parameters
    ----------
    n_classes : int
        Number of classes, K.
    n_inputs : int | None
        Width of a row; None: `n_classes`.

    Examples
    --------
    A method that answers every frame as the network does, and remembers nothing:

    >>> class Unchanged(StreamClassifier):
    ...     def _init(self):
    ...         return ()
    ...
    ...     def _run(self, state, rows, gaps):
    ...         return softmax(rows)
    >>> Unchanged(2).step([0.0, 0.0])
    array([0.5, 0.5])
    """

    dtype: ClassVar[Any] = np.float64
    """Rows reach `_run` in this dtype."""

    whole_steps: ClassVar[bool] = False
    """Whether time can only pass in whole steps: each frame then counts as if it came at the nearest whole step."""

    memory_in_: MemoryIn = "frames"
    """The unit in which time is counted; see `springback.streaming.pace`."""

    def __init__(self, n_classes: int, n_inputs: int | None = None) -> None:
        self.n_classes = check.integer("n_classes", n_classes, low=2)
        self.n_inputs = self.n_classes if n_inputs is None else check.integer("n_inputs", n_inputs, low=1)
        self.n_features_in_ = self.n_inputs
        self.classes_: NDArray[Any] = np.arange(self.n_classes)
        self._clock, self._pace, self._unit = np.nan, AT_REST, UnitCheck()
        self._state = self._init()

    @property
    def memory_(self) -> float | None:
        """Time constant of the memory; None if it has no single one."""
        return None

    @property
    def _row_shape(self) -> tuple[int, ...]:
        """Shape of the input of one step."""
        return (self.n_inputs,)

    @abstractmethod
    def _init(self) -> State:
        """A new state at rest: a tuple of arrays, or a `NamedTuple` of them."""

    @abstractmethod
    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[Any]:
        """Move `state` in place over `rows` (T, n), and return class probabilities (T, K).

        Parameters
        ----------
        state : Any
            What `_init` returns.
        rows : NDArray[Any]
            Finite, contiguous and of the class's `dtype`.
        gaps : NDArray[np.float64]
            Frames since the frame before, (T,); 1 everywhere if the stream has no time stamps.
        """

    def _relax(self, state: Any, elapsed: float) -> None:  # noqa: B027
        """Let `elapsed` steps pass in `state`, in place. A method without a notion of time does nothing."""

    @one_at_a_time
    def step(self, x: Any, time: Any = None) -> NDArray[np.float64]:
        """Class probabilities (K,) of one frame; moves the model.

        Parameters
        ----------
        x : Any
            One row, (n,).
        time : Any
            Its time stamp in any unit; one step after the last frame if not given. Dates and durations become seconds.
        """
        row = self._rows("x", x, self._row_shape)[None]
        stamp, gaps, pace = self._times("time", 1, time)
        probabilities, self._state = self._follow(row, gaps)
        self._clock, self._pace = float(stamp[0]), pace
        return np.asarray(probabilities[0])

    @one_at_a_time
    def track(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """Class probabilities (T, K) of a recorded stream, on a copy of the present state.

        Parameters
        ----------
        X : Any
            Rows in time order, (T, n).
        times : Any
            Their time stamps in any unit, (T,); one step apart if not given. Dates and durations become seconds.
        """
        rows = self._rows("X", X, (None, *self._row_shape))
        return self._follow(rows, self._times("times", len(rows), times)[1])[0]

    def track_labels(self, X: Any, times: Any = None) -> NDArray[Any]:
        """The most probable class of every frame of a recorded stream, on a copy of the present state."""
        return np.asarray(self.classes_[self.track(X, times).argmax(axis=-1)])

    @one_at_a_time
    def reset(self) -> Self:
        """Return to rest, and forget the past."""
        self._state, self._clock, self._pace = self._init(), np.nan, AT_REST
        return self

    @one_at_a_time
    def relax(self, elapsed: Any) -> Self:
        """Let time pass without a frame: in the unit of the time stamps, if there were any, and in frames otherwise."""
        steps = elapsed_in_frames(self._pace, as_elapsed("elapsed", elapsed), self.memory_in_)
        state, clock = self._copy(), self._clock + steps
        before = 0.0 if np.isnan(clock) else self._clock
        self._relax(state, float(self._steps_between(before, np.array([before + steps]))[0]))
        self._state, self._clock = state, clock
        return self

    def _times(
        self, name: str, steps: int, times: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, NDArray[np.float64]]:
        """When the next frames come, (T,), the time since the one before each (None: one step), and the pace then.

        The first frame of a stream comes one step after its beginning.
        """
        stamps, pace = next_times(name, steps, times, self._clock, self._pace, self.memory_in_)
        if times is None:
            return stamps, None, pace
        gaps, memory = self._steps_between(self._clock, stamps), 1.0 if self.whole_steps else self.memory_
        if self.memory_in_ == "time" and memory is not None:
            apart = np.diff(stamps, prepend=self._clock)
            self._unit.see(apart[~np.isnan(apart)], memory)
        gaps[:1][np.isnan(gaps[:1])] = 1.0
        return stamps, gaps, pace

    def _steps_between(self, clock: float, stamps: NDArray[np.float64]) -> NDArray[np.float64]:
        """The time between frames in the unit of the memory, (T,), from that of the last frame."""
        times = np.concatenate([[clock], stamps])
        return np.diff(np.rint(times) if self.whole_steps else times)

    def _follow(self, rows: NDArray[Any], gaps: NDArray[np.float64] | None) -> tuple[NDArray[np.float64], State]:
        """Probabilities, and the state after the rows; the model itself stays as it is."""
        state = self._copy()
        with np.errstate(over="ignore", invalid="ignore"):
            answers = self._run(state, rows, np.ones(len(rows)) if gaps is None else gaps)
        refuse_overflow(answers, of_rows=True)
        return np.asarray(answers, np.float64), state

    def _copy(self) -> State:
        parts = [np.copy(part) for part in self._state]
        return type(self._state)._make(parts) if hasattr(self._state, "_make") else tuple(parts)

    def _rows(self, name: str, given: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        rows = real_numbers(name, given)
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(rows, self.dtype)
        try:
            return check.array(name, rows, shape=shape, dtype=self.dtype)
        except ValueError as error:
            raise FrameError(str(error)) from None
