"""A frozen linear head that follows a stream, by springs or as the exact observer; compiled, without PyTorch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.models import Arrays, SavedModel, SavedRecord, require_names
from springback.heads.compiled.frame import output_at_rest
from springback.heads.head_classifier import HeadClassifier
from springback.heads.hindsight import Behind, answers_with_hindsight, require_observer
from springback.heads.scale import Scale
from springback.heads.settings import Settings, require_settings
from springback.streaming.one_at_a_time import one_at_a_time, turn_of
from springback.streaming.pace import AT_REST, require_pace
from springback.streaming.records import Followed
from springback.streaming.stream_classifier import refuse_overflow
from springback.streaming.stream_model import StreamModel

_NOT_ASKED = np.empty(0)
_BYTES_OF_COPIES = 2**24
"""How much memory the copies of the state may take that many rows read at once."""


class HeadState(NamedTuple):
    """The state of the stream of one head, which can be kept and given back; nothing ever writes to it.

    Parameters
    ----------
    clock : float
        Time of the last frame, in the unit of the memory; NaN before the first.
    memory : Any
        What is remembered, a `State` of the settings, with a first axis of length 1.
    pace : NDArray[np.float64]
        The last time stamp and the gaps before it; see `springback.streaming.pace`.

    Examples
    --------
    >>> head = ElasticHead(np.eye(2), np.zeros(2))
    >>> answer = head.step([1.0, 0.0])
    >>> head.state_.clock
    0.0
    """

    clock: float
    memory: Any
    pace: NDArray[np.float64] = AT_REST


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedHead(SavedRecord):
    """An `ElasticHead`: the frozen head, and how it follows a stream."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    centre: NDArray[np.float32] | None
    settings: Settings
    scale: Scale | None


class ElasticHead(HeadClassifier, SavedModel, StreamModel):
    """The last layer of any frozen network, which adapts to its stream, online and without labels.

    Input: features (T, n), what the layer receives. `step` answers a frame and moves the head; `track` answers a
    recorded stream on a copy of the present state; `reset` returns to rest; `relax` lets time pass.

    Parameters
    ----------
    weight : NDArray[Any]
        Weights of the frozen layer, (K, n).
    bias : NDArray[Any]
        Its biases, (K,).
    settings : Settings | None
        `LearningObserver`, `Observer`, `Springs`, `WindowSprings` or `CentroidSprings`; None: the default
        `LearningObserver`, which needs no tuning. Choose settings for your stream with `tune_head`.
    centre : NDArray[Any] | None
        Mean of the features, (n,), which is subtracted before frames are compared, unless the settings say otherwise.
    scale : Scale | None
        Units of an `Observer` and of `WindowSprings.tuning`; None: measured from the frames as they come. What was
        measured outlasts a silence, until `reset`.

    Examples
    --------
    >>> turning = np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]])
    >>> from springback.heads import Observer
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(novelty_odds=0.01))
    >>> head.track(turning).argmax(axis=1), turning.argmax(axis=1)
    (array([0, 0, 0, 0]), array([0, 0, 0, 1]))

    Many streams share one head if each keeps its own state:

    >>> cameras = dict.fromkeys(["door", "yard"], head.state_)
    >>> head.state_ = cameras["door"]
    >>> answer = head.step(turning[0])
    >>> cameras["door"] = head.state_
    """

    RECORD = SavedHead

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        settings: Settings | None = None,
        *,
        centre: NDArray[Any] | None = None,
        scale: Scale | None = None,
    ) -> None:
        self.settings = require_settings(settings)
        must = "be those that the compiled heads know; use springback.torch for these"
        check.require(self.settings.is_compiled, "settings", must, self.settings)
        self.scale = scale
        width = np.shape(weight)[-1] if np.ndim(weight) == 2 else None
        self.centre = None if centre is None else np.array(centre, np.float32)
        if self.centre is not None:
            check.array("centre", self.centre, shape=(width,), dtype=np.float32)
        self.memory_in_ = self.settings.memory_in
        super().__init__(weight, bias)
        nothing = np.zeros(self.n_inputs, np.float32)
        self._centring = nothing if self.centre is None or not self.settings.centred else self.centre
        self._kernel = self.settings.form("springback.heads.compiled").follow
        self._numbers = self.settings.numbers(scale)
        self._behind: Behind | None = None

    @property
    def memory_(self) -> float:
        """Time constant of the memory."""
        return float(self.settings.memory)

    def _init(self) -> Any:
        parts = self.settings.parts(*self.weight.shape)
        return self.settings.State(**{name: np.zeros((1, *part.shape), part.dtype) for name, part in parts.items()})

    @overload
    def step(self, x: Any, time: Any = None) -> NDArray[np.float64]: ...
    @overload
    def step(self, x: Any, time: Any = None, *, lag: int) -> NDArray[np.float64] | None: ...
    def step(self, x: Any, time: Any = None, *, lag: int = 0) -> NDArray[np.float64] | None:
        """Class probabilities (K,) of one frame, or of the one `lag` frames ago; moves the head.

        With a lag the answers are those of `track(lag=)`; None: no frame has waited so long yet. Frames that wait are
        not part of the state: another step, `reset`, or a state that is set begins anew. `waiting` ends the wait.

        Examples
        --------
        >>> from springback.heads import Observer
        >>> head = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(evidence=1.0))
        >>> [head.step(row, lag=1) is None for row in ([0.9, 1.0], [1.0, 0.6])], len(head.waiting())
        ([True, False], 1)
        """
        if check.integer("lag", lag, low=0) == 0:
            return super().step(x, time)
        require_observer(self.settings)
        with turn_of(self):
            behind = self._behind
            if behind is None or behind.owner != id(self) or behind.ahead is not self._state or behind.lag != lag:
                behind = Behind(self._copy(), lag, owner=id(self))
            row = self._rows("x", x, self._row_shape)
            gaps = self._times("time", 1, time)[1]
            super().step(x, time)
            behind.rows.append(row)
            behind.gaps.append(1.0 if gaps is None else float(gaps[0]))
            behind.ahead, self._behind = self._state, behind
            return behind.answer(self) if len(behind.rows) > lag else None

    @one_at_a_time
    def waiting(self) -> NDArray[np.float64]:
        """Class probabilities (at most lag, K) of the frames whose answers `step(lag=)` still owes; none waits then."""
        behind, self._behind = self._behind, None
        is_ours = behind is not None and behind.owner == id(self) and behind.ahead is self._state
        owed = behind.rows if behind is not None and is_ours else []
        return np.array([behind.answer(self) for _ in list(owed) if behind]).reshape(-1, self.n_classes)

    def track(self, X: Any, times: Any = None, *, lag: int = 0) -> NDArray[np.float64]:
        """Class probabilities (T, K) of a recorded stream, on a copy of the present state.

        Parameters
        ----------
        X : Any
            Rows in time order, (T, n).
        times : Any
            Their time stamps in any unit, (T,); one step apart if not given. Dates and durations become seconds.
        lag : int
            How many frames after it an answer may wait for; see `springback.heads.hindsight`. 0: none. It takes an
            `Observer`, and for each frame of the wait a sum over the remembered frames and all pairs of classes.

        Examples
        --------
        >>> blurred = [[0.9, 1.0], *[[1.0, 0.6]] * 4]  # the first frame is answered wrong
        >>> from springback.heads import Observer
        >>> head = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(evidence=1.0))
        >>> head.track(blurred).argmax(axis=1), head.track(blurred, lag=4).argmax(axis=1)
        (array([1, 0, 0, 0, 0]), array([0, 0, 0, 0, 0]))
        """
        if check.integer("lag", lag, low=0) == 0:
            return super().track(X, times)
        return self._waiting(X, times, lag)

    def smooth(self, X: Any, times: Any = None) -> NDArray[np.float64]:
        """Class probabilities (T, K) of a recorded stream given all of it: `track` with the longest lag.

        Examples
        --------
        >>> from springback.heads import Observer
        >>> head = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(evidence=1.0))
        >>> head.smooth([[0.9, 1.0], *[[1.0, 0.6]] * 4]).argmax(axis=1)
        array([0, 0, 0, 0, 0])
        """
        return self._waiting(X, times, max(1, len(X)))

    @one_at_a_time
    def _waiting(self, X: Any, times: Any, lag: int) -> NDArray[np.float64]:
        rows = self.rows(X)
        gaps = self._times("times", len(rows), times)[1]
        return answers_with_hindsight(self, self._copy(), rows, np.ones(len(rows)) if gaps is None else gaps, lag)

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the answers of the frozen head, and how new every frame is (NaN with `Springs`).

        Parameters
        ----------
        in_place : bool
            Move the head itself instead of a copy of its state.

        Examples
        --------
        >>> head = ElasticHead(np.eye(2), np.zeros(2))
        >>> head.track_response(np.eye(2)).novelty.round(2)
        array([1.  , 0.88])
        """
        rows = self._rows("X", X, (None, self.n_inputs))
        stamps, gaps, pace = self._times("times", len(rows), times)
        state = self._copy()
        followed = self.follow_streams(state, rows, np.ones((len(rows), 1)) if gaps is None else gaps[:, None])
        if in_place and len(rows):
            self._state, self._clock, self._pace = state, float(stamps[-1]), pace
        return followed

    def rows(self, X: Any) -> NDArray[np.float32]:
        """Rows of features as they are computed with, (T, n); refused if they are something else.

        Examples
        --------
        >>> ElasticHead(np.eye(2), np.zeros(2)).rows([[1, 2]])
        array([[1., 2.]], dtype=float32)
        """
        return self._rows("X", X, (None, self.n_inputs))

    def follow_streams(
        self,
        state: Sequence[NDArray[Any]],
        rows: NDArray[np.float32],
        gaps: NDArray[np.float64],
        *,
        with_frozen: bool = True,
    ) -> Followed:
        """The answers to T frames of B streams, rows (T * B, n), whose states move in place; the head does not move.

        Parameters
        ----------
        state : Sequence[NDArray[Any]]
            The parts of the states of the streams, the first axis of each counting the streams.
        gaps : NDArray[np.float64]
            Time since the frame before each in the unit of the memory, (T, B).
        with_frozen : bool
            Also answer without memory; the answers are NaN if not.

        Examples
        --------
        >>> head = ElasticHead(np.eye(2), np.zeros(2))
        >>> both = [np.repeat(part, 2, axis=0) for part in head.state_.memory]
        >>> head.follow_streams(both, np.eye(2, dtype=np.float32), np.ones((1, 2))).posterior.argmax(axis=1)
        array([0, 1])
        """
        novelty = np.full(len(rows), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            answers = self._follow_rows(state, rows, gaps, novelty)
            frozen = self._answers(rows @ self.weight.T + self.bias) if with_frozen else np.full_like(answers, np.nan)
        refuse_overflow(answers)
        if with_frozen:
            refuse_overflow(frozen)
        return Followed(answers, frozen, novelty)

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._follow_rows(state, rows, gaps[:, None], _NOT_ASKED)

    def _follow_rows(
        self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64], novelty: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Answers (T * B, K) to T frames of B streams; moves the state, and writes how new each is, if that is known.

        gaps (T, B): time since the frame before each.
        """
        answers = output_at_rest(self.weight, self.bias, rows)
        head = (self.weight, self.bias, self._centring, self._numbers)
        # In one order: the kernel is compiled anew for another, as that of times by stream and frame is.
        self._kernel(tuple(state), rows, answers, np.ascontiguousarray(gaps), *head, novelty)
        return self._answers(answers) if self.settings.answers_with == "logits" else np.exp(answers)

    @one_at_a_time
    def read(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities (N, K) of each row as if it came now; nothing moves, and rows do not affect each other.

        Examples
        --------
        >>> ElasticHead(np.eye(2), np.zeros(2)).read([[1.0, 0.0], [0.0, 1.0]]).argmax(axis=1)
        array([0, 1])
        """
        rows = self.rows(X)
        at_once = max(1, _BYTES_OF_COPIES // sum(part.nbytes for part in self._state))
        answers = np.empty((len(rows), self.n_classes))
        for start in range(0, len(rows), at_once):
            some = rows[start : start + at_once]
            copies = [np.repeat(part, len(some), axis=0) for part in self._state]
            with np.errstate(over="ignore", invalid="ignore"):
                answers[start : start + at_once] = self._follow_rows(copies, some, np.zeros((1, len(some))), _NOT_ASKED)
        refuse_overflow(answers, of_rows=True)
        return answers

    def _relax(self, state: Any, elapsed: float) -> None:
        fading = np.exp(-elapsed / self.settings.memory)
        for name in self.settings.fading:
            part = getattr(state, name)
            part *= part.dtype.type(fading)
        for name, left in self.settings.left_after_silence(elapsed).items():
            part = getattr(state, name)
            part *= part.dtype.type(left)

    @property
    @one_at_a_time
    def state_(self) -> HeadState:
        """The state of the stream; to continue from it, assign it to this head or to one with the same sizes."""
        return HeadState(self._clock, self._state, self._pace)

    @state_.setter
    @one_at_a_time
    def state_(self, state: HeadState) -> None:
        if not isinstance(state, HeadState) or type(state.memory) is not self.settings.State:
            kind = type(self.settings).__name__
            raise TypeError(f"state_ must be the state of a head with {kind}; got {check.shown(state)}")
        for name, now, given in zip(state.memory._fields, self._state, state.memory, strict=True):
            check.array(f"state_.{name}", given, shape=now.shape, dtype=now.dtype, finite=False)
        self._clock, self._state = float(state.clock), state.memory
        self._pace = require_pace("state_.pace", state.pace)

    def _record(self) -> SavedHead:
        return SavedHead(
            weight=self.weight, bias=self.bias, centre=self.centre, settings=self.settings, scale=self.scale
        )

    @classmethod
    def _from_record(cls, record: SavedHead) -> Self:
        for name in ("weight", "bias", "centre"):
            array = getattr(record, name)
            if array is not None:
                check.array(name, array, shape=(None,) * array.ndim, dtype=np.float32)
        return cls(record.weight, record.bias, record.settings, centre=record.centre, scale=record.scale)

    def _state_arrays(self) -> Arrays:
        return {**self.state_.memory._asdict(), "clock": np.array([self._clock]), "pace": self._pace.copy()}

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        rest = self._init()
        require_names(arrays, *rest._fields, "clock", "pace")
        clock = check.array("clock", arrays["clock"], shape=(1,), dtype=np.float64, finite=False)
        check.require(not np.isinf(clock[0]), "clock", "be a time, or NaN before the first frame", clock[0])
        for name, part in self.settings.parts(*self.weight.shape).items():
            check.array(name, arrays[name], shape=(1, *part.shape), dtype=np.dtype(part.dtype))
            part.require(name, arrays[name])
        state = self.settings.State(**{name: np.ascontiguousarray(arrays[name]) for name in rest._fields})
        self._pace = require_pace("pace", np.ascontiguousarray(arrays["pace"]))
        self._state, self._clock = state, float(clock[0])
