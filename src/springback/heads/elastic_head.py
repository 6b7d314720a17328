"""A frozen linear head that follows a stream, by springs or as the exact observer; compiled, without PyTorch."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.adaptation.head import HeadClassifier
from springback.adaptation.stream_classifier import refuse_overflow
from springback.heads._gate import gate_at_rest
from springback.heads._observer import ObserverState, at_rest, observe
from springback.heads._springs import SpringState, pull_rows
from springback.heads._windowed import WindowState, pull_window, window_at_rest
from springback.heads.continuity import FORGETTING
from springback.heads.observer import Observer
from springback.heads.scale import Scale
from springback.heads.settings import Settings
from springback.heads.springs import Springs
from springback.heads.state_check import memory_from
from springback.one_at_a_time import one_at_a_time
from springback.plain_values import record_as_plain, record_from_plain
from springback.records import Followed
from springback.saved_model import Arrays, Parts, SavedModel, require_names
from springback.time_stamps import Pace, times_of_frames


class HeadState(NamedTuple):
    """The state of the stream of one head, which can be kept and given back; nothing ever writes to it.

    Parameters
    ----------
    clock : float
        Time of the last frame; NaN before the first.
    memory : ObserverState | SpringState | WindowState
        What is remembered.

    Examples
    --------
    >>> head = ElasticHead(np.eye(2), np.zeros(2))
    >>> answer = head.step([1.0, 0.0])
    >>> head.state_.clock
    0.0
    """

    clock: float
    memory: ObserverState | SpringState | WindowState


class ElasticHead(HeadClassifier, SavedModel):
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
        `Observer` or `Springs`; None: the default `Observer`, which needs no tuning. Choose settings for your stream
        with `tune_head`.
    centre : NDArray[Any] | None
        Mean of the features, (n,), which is subtracted before frames are compared, unless the settings say otherwise.
    scale : Scale | None
        Units of an `Observer` and of `Springs.tuning`; None: measured from the frames as they come. What was measured
        outlasts a silence, until `reset`.

    Examples
    --------
    >>> turning = np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]])
    >>> head = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(novelty=0.01))
    >>> head.track(turning).argmax(axis=1), turning.argmax(axis=1)
    (array([0, 0, 0, 0]), array([0, 0, 0, 1]))

    Many streams share one head if each keeps its own state:

    >>> cameras = dict.fromkeys(["door", "yard"], head.state_)
    >>> head.state_ = cameras["door"]
    >>> answer = head.step(turning[0])
    >>> cameras["door"] = head.state_
    """

    KIND = "elastic head"

    def __init__(
        self,
        weight: NDArray[Any],
        bias: NDArray[Any],
        settings: Settings | None = None,
        *,
        centre: NDArray[Any] | None = None,
        scale: Scale | None = None,
    ) -> None:
        self.settings = Observer() if settings is None else settings
        if not isinstance(self.settings, Observer | Springs):
            raise TypeError(f"settings must be Observer or Springs; got {self.settings!r}")
        if isinstance(self.settings, Springs):
            refuse_unsupported(self.settings)
        self.scale = scale
        width = np.shape(weight)[-1] if np.ndim(weight) == 2 else None
        self.centre = None if centre is None else np.array(centre, np.float32)
        if self.centre is not None:
            check.array("centre", self.centre, shape=(width,), dtype=np.float32)
        self._pace = Pace()
        super().__init__(weight, bias)

    def _init(self) -> ObserverState | SpringState | WindowState:
        classes, width = self.weight.shape
        if isinstance(self.settings, Observer):
            return at_rest(self.settings.depth, classes, width)
        if self.settings.window is not None:
            return window_at_rest(self.settings.window, classes, width)
        pulled = np.zeros((classes, width), np.float32), np.zeros(classes, np.float32)
        answered, shares, agreement = gate_at_rest(classes)
        return SpringState(*pulled, answered, shares, agreement)

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
        array([1.  , 0.98])
        """
        rows = self._rows("X", X, (None, self.n_inputs))
        stamps = times_of_frames(self._clock, len(rows), times)
        gaps = np.ones(len(rows)) if times is None else self._gaps("times", stamps)
        state, novelty = self._copy(), np.full(len(rows), np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            answers = self._follow_rows(state, rows, gaps, novelty)
            at_rest = self._answers(rows @ self.weight.T + self.bias)
        refuse_overflow(answers)
        if in_place and len(rows):
            self._state, self._clock = state, float(stamps[-1])
        return Followed(answers, at_rest, novelty)

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._follow_rows(state, rows, gaps, np.empty(len(rows)))

    def _follow_rows(
        self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64], novelty: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Answers (T, K); moves the state, and writes how new each frame is, if the settings know it."""
        settings = self.settings
        nothing = np.zeros(self.n_inputs, np.float32)
        if isinstance(settings, Observer):
            centre = self.centre if settings.centred and self.centre is not None else nothing
            scale = np.zeros(2) if self.scale is None else np.array([self.scale.spread, self.scale.distance])
            chosen = (settings.memory, settings.kappa, settings.novelty, settings.evidence, settings.gain)
            numbers = _floats(*chosen, settings.sharpness, settings.continuity)
            head = (self.weight, self.bias)
            return np.asarray(observe(state, rows, gaps, *head, centre, numbers, scale, novelty), np.float64)
        centre = nothing if self.centre is None else self.centre
        numbers = _floats(settings.memory, settings.pull or 0, settings.kappa, settings.constant, settings.continuity)
        what = (rows, gaps, self.weight, self.bias, centre)
        if settings.window is None:
            kind = (settings.unit_inputs, settings.likelihood == "exponential")
            return self._answers(pull_rows(state, *what, numbers, *kind))
        tuning = -1.0 if settings.tuning is None else float(settings.tuning)
        distance = 0.0 if self.scale is None else float(self.scale.distance)
        return self._answers(pull_window(state, *what, (*numbers, tuning, distance), settings.unit_inputs))

    def _gaps(self, name: str, stamps: NDArray[np.float64]) -> NDArray[np.float64]:
        gaps = super()._gaps(name, stamps)
        self._pace.see(gaps[1:] if np.isnan(self._clock) else gaps, self.settings.memory)
        return gaps

    @one_at_a_time
    def read(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities (N, K) of each row as if it came now; nothing moves, and rows do not affect each other.

        Examples
        --------
        >>> ElasticHead(np.eye(2), np.zeros(2)).read([[1.0, 0.0], [0.0, 1.0]]).argmax(axis=1)
        array([0, 1])
        """
        rows = self._rows("X", X, (None, self.n_inputs))
        now = np.zeros(1)
        answers = [self._follow(rows[i : i + 1], now)[0] for i in range(len(rows))]
        return np.concatenate(answers) if answers else np.zeros((0, self.n_classes))

    def _relax(self, state: Any, elapsed: float) -> None:
        fading = np.exp(-elapsed / self.settings.memory)
        if isinstance(state, ObserverState | WindowState):
            state.odds[:] *= fading
        else:
            state.short_term[:] *= np.float32(fading)
            state.classes[:] *= np.float32(fading)
        state.agreement[:] *= FORGETTING**elapsed

    @property
    @one_at_a_time
    def state_(self) -> HeadState:
        """The state of the stream; to continue from it, assign it to this head or to one with the same sizes."""
        memory: Any = self._state
        return HeadState(self._clock, memory)

    @state_.setter
    @one_at_a_time
    def state_(self, state: HeadState) -> None:
        if not isinstance(state, HeadState) or type(state.memory) is not type(self._state):
            kind = type(self.settings).__name__
            raise TypeError(f"state_ must be the state of a head with {kind}; got {check.shown(state)}")
        now: Any
        given: Any
        for name, now, given in zip(state.memory._fields, self._state, state.memory, strict=True):
            check.array(f"state_.{name}", given, shape=now.shape, dtype=now.dtype, finite=False)
        self._clock, self._state = float(state.clock), state.memory

    def _parts(self) -> Parts:
        arrays = {"weight": self.weight, "bias": self.bias}
        if self.centre is not None:
            arrays["centre"] = self.centre
        return Parts(arrays, {"settings": record_as_plain(self.settings), "scale": record_as_plain(self.scale)})

    @classmethod
    def _from_parts(cls, parts: Parts) -> Self:
        arrays, values = parts
        require_names(arrays, "weight", "bias", *(["centre"] if "centre" in arrays else []))
        require_names(values, "settings", "scale")
        for name, array in arrays.items():
            check.array(name, array, shape=(None,) * array.ndim, dtype=np.float32)
        settings = record_from_plain("settings", values["settings"], (Observer, Springs))
        scale = None if values["scale"] is None else record_from_plain("scale", values["scale"], (Scale,))
        return cls(arrays["weight"], arrays["bias"], settings, centre=arrays.get("centre"), scale=scale)

    def _state_arrays(self) -> Arrays:
        return {**self.state_.memory._asdict(), "clock": np.array([self._clock])}

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        rest = self._init()
        require_names(arrays, *rest._fields, "clock")
        clock = check.array("clock", arrays["clock"], shape=(1,), dtype=np.float64, finite=False)
        check.require(not np.isinf(clock[0]), "clock", "be a time, or NaN before the first frame", clock[0])
        self._state, self._clock = memory_from(rest, arrays), float(clock[0])


def _floats(*values: float) -> tuple[float, ...]:
    return tuple(float(one) for one in values)


def refuse_unsupported(springs: Springs) -> None:
    """Refuse springs that only the PyTorch layer has."""
    plain = Springs(
        pull=springs.pull,
        memory=springs.memory,
        likelihood=springs.likelihood,
        kappa=springs.kappa,
        unit_inputs=springs.unit_inputs,
        constant=springs.constant,
        window=springs.window,
        tuning=springs.tuning,
        continuity=springs.continuity,
    )
    simple = springs == plain and springs.likelihood != "linear" and springs.pull is not None
    must = "leave posterior_from, inference, beta, novelty, weight_dependence and bias_rule, and not be linear here"
    check.require(simple, "Springs", f"{must} (springback.layers has the rest)", springs)
