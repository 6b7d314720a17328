"""Checks for models that follow a stream, your own included: what their methods and files promise."""

import copy
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.streaming.stream_model import StreamModel

LONG = 1_000_000
"""Steps after which every memory has faded."""

_MOVED = 5


def check_stream_model(
    model: Any,
    rows: Any = None,
    *,
    exact: bool = False,
    takes_times: bool = True,
    forgets: bool = True,
    refuses_nan: bool = True,
    draws: bool = False,
) -> None:
    """Check that a model keeps the promises of `StreamModel`; the first one that is broken raises an `AssertionError`.

    A model that only has `step`, `track`, `relax` and `reset` is checked for these; one that is a `StreamModel`, for
    its state as bytes, its file and its labels, too. Copies of the model are used, and the model stays as it is.

    Parameters
    ----------
    model : Any
        Fitted, and at rest.
    rows : Any
        A stream for it, at least 12 frames (T, ...); None: random numbers between 0 and 1.
    exact : bool
        Whether splitting a stream changes no bit of the answers; otherwise they agree to rounding.
    takes_times : bool
        Whether `step` and `track` take time stamps.
    forgets : bool
        Whether the model has a notion of time, so that it is at rest again after a long silence.
    refuses_nan : bool
        Whether rows with NaN are refused; otherwise they only let time pass.
    draws : bool
        Whether answers are drawn at random by the number of the frame, so that equal states at different places of a
        stream do not give equal answers.

    Examples
    --------
    >>> from springback.heads import ElasticHead, Observer, Scale
    >>> head = ElasticHead(np.eye(3), np.zeros(3), Observer(), scale=Scale(3.0, 0.5))
    >>> check_stream_model(head)

    A model that forgets its own `reset` is found out:

    >>> class Careless(ElasticHead):
    ...     def reset(self):
    ...         return self
    >>> check_stream_model(Careless(np.eye(3), np.zeros(3), Observer(), scale=Scale(3.0, 0.5)))
    Traceback (most recent call last):
    AssertionError: after a reset the model must be as new
    """
    if rows is None:
        rows = np.random.default_rng(0).random((30, *model.frame_shape_))
        rows = (255 * rows).astype(np.uint8) if model.frame_dtype_ == np.uint8 else rows
    given = _Given(model, np.asarray(rows), exact, takes_times, forgets, refuses_nan, draws)
    for check in _checks(given):
        check(given)


@dataclass(frozen=True)
class _Given:
    """The model to check; the parameters are those of `check_stream_model`."""

    model: Any
    rows: NDArray[Any]
    exact: bool
    takes_times: bool
    forgets: bool
    refuses_nan: bool
    draws: bool

    def at_rest(self) -> Any:
        return copy.deepcopy(self.model)

    def moved(self, steps: int = _MOVED) -> Any:
        """A model that has seen the first rows."""
        model = self.at_rest()
        for row in self.rows[:steps]:
            model.step(row)
        return model

    def same(self, one: Any, other: Any) -> bool:
        return np.array_equal(one, other) if self.exact else self.close(one, other)

    @staticmethod
    def close(one: Any, other: Any) -> bool:
        return np.allclose(one, other, rtol=1e-4, atol=1e-5)


_Check = Callable[[_Given], None]


def _checks(given: _Given) -> Iterator[_Check]:
    yield from (
        _inputs_stay,
        _answers_are_probabilities,
        _track_leaves_the_model,
        _steps_are_the_tracked_stream,
        _chunks,
        _reset,
    )
    yield from (_silences, _the_stream_moves_the_model, _refusals_leave_the_state, _copies)
    if given.takes_times:
        yield from (_time_stamps, _wrong_time_stamps)
    if given.rows.dtype.kind == "f":
        yield _rows_with_nan
    if isinstance(given.model, StreamModel):
        yield from (_response, _labels, _state_as_bytes, _file)


def _must(holds: Any, promise: str) -> None:
    if not holds:
        raise AssertionError(promise)


def _must_refuse(call: Callable[[], Any], promise: str, *errors: type[Exception], told: str = "") -> None:
    """The call must raise one of the errors, with this in its text."""
    try:
        call()
    except errors as error:
        _must(told in str(error), f"{promise}, and say {told!r}; it said: {error}")
        return
    raise AssertionError(promise)


def _answers_are_probabilities(given: _Given) -> None:
    tracked, stepped = given.at_rest().track(given.rows), given.at_rest().step(given.rows[0])
    _must(tracked.ndim == 2 and len(tracked) == len(given.rows), "track must answer (T, K)")
    _must(stepped.shape == tracked.shape[1:], "step must answer (K,)")
    for answers in (tracked, stepped):
        _must(np.isfinite(answers).all() and (answers >= 0).all(), "answers must be finite and >= 0")
        _must(np.allclose(answers.sum(axis=-1), 1, atol=1e-5), "answers must sum to one")


def _track_leaves_the_model(given: _Given) -> None:
    model, untouched = given.moved(), given.moved()
    first = model.track(given.rows)
    _must(np.array_equal(model.track(given.rows), first), "track must leave the model as it was")
    same = np.array_equal(model.step(given.rows[0]), untouched.step(given.rows[0]))
    _must(same, "track must leave the model as it was")


def _the_stream_moves_the_model(given: _Given) -> None:
    moved = given.moved()
    parts = [given.rows[start:] for start in range(9)]
    differs = any(not np.array_equal(moved.track(part), given.at_rest().track(part)) for part in parts)
    _must(differs, "a stream must move the model")


def _steps_are_the_tracked_stream(given: _Given) -> None:
    one, other, answers = given.at_rest(), given.moved(), []
    for row in given.rows:
        answers.append(one.step(row))
        other.step(given.rows[0])
    _must(
        given.same(answers, given.at_rest().track(given.rows)), "steps must answer as track does, undisturbed by others"
    )


def _chunks(given: _Given) -> None:
    whole = given.at_rest().track(given.rows)
    for steps in (1, 4, len(given.rows) - 1):
        rest = given.moved(steps).track(given.rows[steps:])
        _must(given.same(rest, whole[steps:]), "a stream may be split anywhere without another answer")


def _reset(given: _Given) -> None:
    model = given.moved()
    model.reset()
    as_new = np.array_equal(model.track(given.rows), given.at_rest().track(given.rows))
    _must(as_new, "after a reset the model must be as new")


def _silences(given: _Given) -> None:
    rows, untouched = given.rows, given.moved().track(given.rows)
    model = given.moved()
    model.relax(0)
    _must(np.array_equal(model.track(rows), untouched), "no time must change nothing")
    twice, once = given.moved(), given.moved()
    for elapsed in (2, 3):
        twice.relax(elapsed)
    once.relax(5)
    _must(given.close(twice.track(rows), once.track(rows)), "silences must add up")
    model.relax(LONG)
    if given.draws:
        _must(not model.short_term_.any(), "a long silence must be a reset")
    else:
        rested = given.at_rest().track(rows) if given.forgets else untouched
        _must(
            given.close(model.track(rows), rested), "a long silence must be a reset, if the model has a notion of time"
        )


def _time_stamps(given: _Given) -> None:
    rows = given.rows
    times, whole, model = 3.0 + np.arange(len(rows)), given.at_rest().track(rows), given.at_rest()
    one_apart = "time stamps one step apart must answer as none do"
    _must(given.close(model.track(rows, times), whole), one_apart)
    stepped = [model.step(row, time) for row, time in zip(rows, times, strict=True)]
    _must(given.close(stepped, whole), one_apart)
    gap, silence, promise = given.moved(), given.moved(), "a gap between time stamps must be a silence"
    silence.relax(4)
    _must(given.close(gap.track(rows, 9 + np.arange(len(rows))), silence.track(rows)), promise)
    _must(given.close(gap.step(rows[0], 9), silence.step(rows[0])), promise)
    _must(given.close(gap.track(rows), silence.track(rows)), promise)


def _wrong_time_stamps(given: _Given) -> None:
    model, rows = given.moved(), given.rows
    backwards, told = "time that runs backwards must be refused", "time must be >= 4, the time of the last frame; got"
    _must_refuse(lambda: model.step(rows[0], 1), backwards, ValueError, told=told)
    _must_refuse(lambda: model.track(rows[:3], [7, 9, 8]), backwards, ValueError, told="backwards")
    _must_refuse(lambda: model.track(rows[:3], [7, 8]), "there must be one time stamp for each row", ValueError)
    _must_not_have_moved(given, model)


def _must_not_have_moved(given: _Given, model: Any) -> None:
    same = np.array_equal(model.track(given.rows), given.moved().track(given.rows))
    _must(same, "what is refused must leave the model as it was")


def _refusals_leave_the_state(given: _Given) -> None:
    model, rows, width = given.moved(), given.rows, "rows of another width must be refused"
    errors = (ValueError, TypeError, RuntimeError)  # the last is PyTorch's own
    _must_refuse(lambda: model.step(rows[0, :-1]), width, *errors)
    _must_refuse(lambda: model.track(rows[:, :-1]), width, *errors)
    _must_refuse(model.relax, "the time of a silence must be given", TypeError)
    for wrong in (-1, np.nan):
        _must_refuse(partial(model.relax, wrong), "a silence must be >= 0", ValueError, told="elapsed must be")
    _must_not_have_moved(given, model)


def _rows_with_nan(given: _Given) -> None:
    broken, model, other = given.rows.copy(), given.moved(), given.moved()
    broken[3, 2] = np.nan
    if given.refuses_nan:
        for call in (lambda: model.step(broken[3]), lambda: model.track(broken)):
            _must_refuse(call, "rows with NaN must be refused", ValueError, told="finite")
    else:
        model.step(broken[3])
        other.relax(1)
    same = given.close(model.track(given.rows), other.track(given.rows))
    _must(same, "a row with NaN must change nothing, or only let time pass")


def _copies(given: _Given) -> None:
    model = given.moved()
    other, expected = copy.deepcopy(model), model.track(given.rows)
    _must(np.array_equal(other.track(given.rows), expected), "a copy must continue as the model would")
    for row in given.rows[:3]:
        other.step(row)
    _must(np.array_equal(model.track(given.rows), expected), "a copy must move apart from its model")


def _inputs_stay(given: _Given) -> None:
    rows, model = given.rows.copy(), given.at_rest()
    model.track(rows)
    for row in rows:
        model.step(row)
    _must(np.array_equal(rows, given.rows), "the input must not be written to")


def _response(given: _Given) -> None:
    model, moved = given.at_rest(), given.moved()
    found, tracked = model.track_response(given.rows), given.at_rest().track(given.rows)
    _must(given.close(found.posterior, tracked), "track_response must answer as track does")
    _must(found.frozen.shape == tracked.shape, "there must be one answer of the frozen model for each frame")
    _must(found.novelty.shape == (len(given.rows),), "there must be one novelty for each frame")
    _must(np.array_equal(model.track(given.rows), tracked), "track_response must leave the model as it was")
    model.track_response(given.rows[:_MOVED], in_place=True)
    same = given.same(model.track(given.rows), moved.track(given.rows))
    _must(same, "track_response in place must move the model as steps do")


def _labels(given: _Given) -> None:
    model = given.at_rest()
    found = model.track_response(given.rows)
    _must(len(model.classes_) == found.posterior.shape[1], "there must be a class for each number of an answer")
    labels = model.labels_of(found).tolist()
    _must(set(labels) <= set(model.possible_labels_), "labels must be among possible_labels_")
    best = np.asarray(model.classes_)[found.posterior.argmax(axis=1)].tolist()
    named = [(one, answer) for one, answer in zip(labels, best, strict=True) if one in model.classes_]
    _must(all(one == answer for one, answer in named), "labels must be the most probable classes")
    _must(model.track_labels(given.rows).tolist() == labels, "track_labels must answer as labels_of does")
    size = int(np.prod(model.frame_shape_))
    _must(size == model.n_features_in_ == given.rows[0].size, "a frame must have n_features_in_ numbers")
    _must(model.memory_ is None or model.memory_ > 0, "a memory must be a time constant > 0, or None")


def _state_as_bytes(given: _Given) -> None:
    model, other = given.moved(), given.at_rest()
    state = model.get_state()
    continued = other.set_state(state).track(given.rows)
    _must(np.array_equal(continued, model.track(given.rows)), "a model must continue from a state as bytes")
    model.step(given.rows[0])
    _must_not_have_moved(given, other)
    _must(given.moved().get_state() == state, "equal streams must have equal bytes")
    other.reset()
    changed = bytearray(state)
    changed[-9] ^= 1
    promise = "a state that has changed must be refused"
    for wrong in (bytes(changed), state[:-1], state + b"x", b"", other.get_state()[:-20]):
        _must_refuse(partial(other.set_state, wrong), promise, ValueError, told="state must")
    _must_refuse(partial(other.set_state, "state"), promise, TypeError, told="must be bytes from get_state")
    as_new = np.array_equal(other.track(given.rows), given.at_rest().track(given.rows))
    _must(as_new, "a state that is refused must leave the model as it was")


def _file(given: _Given) -> None:
    model = given.moved()
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.safetensors")
        loaded = type(model).load(Path(folder) / "model.safetensors")
    promise = "a saved model must continue where it was"
    for name in ("track", "track_labels"):
        same = np.array_equal(getattr(loaded, name)(given.rows), getattr(model, name)(given.rows))
        _must(same, promise)
    _must(np.array_equal(loaded.step(given.rows[0]), model.step(given.rows[0])), promise)
    as_new = np.array_equal(loaded.reset().track(given.rows), given.at_rest().track(given.rows))
    _must(as_new, "a loaded model must be as new after a reset")
