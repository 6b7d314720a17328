"""A head with several memories side by side, whose answers are averaged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from springback import check
from springback.files.models import Arrays, SavedModel, SavedRecord, require_names
from springback.heads.elastic_head import ElasticHead, SavedHead
from springback.heads.head_classifier import HeadClassifier
from springback.streaming.one_at_a_time import one_at_a_time
from springback.streaming.pace import require_pace
from springback.streaming.records import Followed
from springback.streaming.stream_classifier import refuse_overflow
from springback.streaming.stream_model import StreamModel

LOG_TEMPERATURES = (-2.0, 2.5)
"""Between these logarithms the temperature is searched."""

SMALLEST = 1e-30
"""Probabilities below count as this, when the temperature is searched."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedSeveral(SavedRecord):
    """A `SeveralMemories`."""

    heads: tuple[SavedHead, ...]
    temperature: float


class SeveralMemories(HeadClassifier, SavedModel, StreamModel):
    """Heads with the same weights and different memories: an answer is the mean of their probabilities.

    Which memory suits a stream best is hard to tell from few frames, and the mean of good ones is seldom far below the
    best of them. `tune_several` chooses them. A frame costs as much as it costs all of them.

    Parameters
    ----------
    heads : Sequence[ElasticHead]
        The heads; their own states are not used.
    temperature : float
        The logarithms of the mean probabilities are divided by it.

    Examples
    --------
    >>> from springback.heads import Observer, Springs
    >>> heads = [ElasticHead(5 * np.eye(2), np.zeros(2), one) for one in (Observer(), Springs(pull=5.0))]
    >>> model = SeveralMemories(heads)
    >>> turning = np.array([[1.0, 0.0], [1.0, 0.5], [0.9, 0.8], [0.8, 1.0]])
    >>> bool(np.allclose(model.track(turning), (heads[0].track(turning) + heads[1].track(turning)) / 2))
    True
    """

    RECORD = SavedSeveral

    def __init__(self, heads: Sequence[ElasticHead], *, temperature: float = 1.0) -> None:
        check.require(len(heads) > 0, "heads", "hold at least one head", len(heads))
        first = heads[0]
        for one in heads:
            same = np.array_equal(one.weight, first.weight) and np.array_equal(one.bias, first.bias)
            check.require(same, "heads", "have the same weights and biases", "others")
            check.require(one.memory_in_ == first.memory_in_, "heads", "count time in one unit", one.memory_in_)
        self.heads = tuple(heads)
        self.temperature = check.real("temperature", temperature, above=0)
        self.memory_in_ = first.memory_in_
        super().__init__(first.weight, first.bias)

    @property
    def memory_(self) -> float:
        """The longest of the time constants."""
        return max(one.memory_ for one in self.heads)

    def _init(self) -> tuple[NDArray[Any], ...]:
        return tuple(part for one in self.heads for part in one._init())

    def _each(self, state: Any) -> Iterator[tuple[ElasticHead, Any]]:
        """Every head, and its own parts of a state."""
        parts = iter(state)
        for one in self.heads:
            kind = one.settings.State
            yield one, kind._make(next(parts) for _ in kind._fields)

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        answers = np.mean([one._run(own, rows, gaps) for one, own in self._each(state)], axis=0)
        if self.temperature == 1:
            return np.asarray(answers)
        with np.errstate(divide="ignore"):
            return np.asarray(softmax(np.log(answers) / self.temperature, axis=1))

    def _relax(self, state: Any, elapsed: float) -> None:
        for one, own in self._each(state):
            one._relax(own, elapsed)

    @one_at_a_time
    def track_response(self, X: Any, times: Any = None, *, in_place: bool = False) -> Followed:
        """`track` with the answers of the frozen head; how new a frame is, is not measured (NaN).

        Parameters
        ----------
        in_place : bool
            Move the model itself instead of a copy of its state.
        """
        rows = self._rows("X", X, (None, self.n_inputs))
        stamps, gaps, pace = self._times("times", len(rows), times)
        answers, state = self._follow(rows, gaps)
        frozen = self._answers(rows @ self.weight.T + self.bias)
        refuse_overflow(frozen)
        if in_place and len(rows):
            self._state, self._clock, self._pace = state, float(stamps[-1]), pace
        return Followed(answers, frozen, np.full(len(rows), np.nan))

    def _record(self) -> SavedSeveral:
        return SavedSeveral(heads=tuple(one._record() for one in self.heads), temperature=self.temperature)

    @classmethod
    def _from_record(cls, record: SavedSeveral) -> Self:
        return cls([ElasticHead._from_record(one) for one in record.heads], temperature=record.temperature)

    def _state_arrays(self) -> Arrays:
        named = [f"{number}.{part}" for number, one in enumerate(self.heads) for part in one.settings.State._fields]
        parts = dict(zip(named, self._state, strict=True))
        return {**parts, "clock": np.array([self._clock]), "pace": self._pace.copy()}

    def _set_state_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        require_names(arrays, *self._state_arrays())
        parts: list[NDArray[Any]] = []
        shared = {name: arrays[name] for name in ("clock", "pace")}
        for number, one in enumerate(self.heads):
            own = ElasticHead._from_record(one._record())
            own._set_state_arrays({part: arrays[f"{number}.{part}"] for part in one.settings.State._fields} | shared)
            parts += own._state
        self._state, self._clock, self._pace = tuple(parts), own._clock, require_pace("pace", own._pace)


def best_temperature(probabilities: NDArray[Any], labels: NDArray[Any]) -> float:
    """The temperature at which labels (T,), negative where unknown, are most probable; answers are (T, K).

    Examples
    --------
    >>> sure = np.array([[0.99, 0.01]] * 4)
    >>> best_temperature(sure, np.array([0, 0, 0, 1])) > 1, best_temperature(sure, np.array([0, 0, 0, 0])) < 1
    (True, True)
    """
    known = labels >= 0
    logarithms, wanted = np.log(np.maximum(probabilities[known], SMALLEST)), labels[known][:, None]

    def loss(power: float) -> float:
        return -float(np.take_along_axis(log_softmax(logarithms / np.exp(power), axis=1), wanted, axis=1).mean())

    return float(np.exp(minimize_scalar(loss, bounds=LOG_TEMPERATURES, method="bounded").x))
