"""One protocol for every streaming model of the library: `step`, `track`, `reset`, `relax`, and what they promise.

The models are in `tests/streaming_models.py`.
"""

import copy
import importlib
import pickle

import numpy as np
import pytest

from springback import adaptation
from springback.extras import is_installed
from springback.loading import load_model
from tests.streaming_models import Subject, adaptation_classes, subjects

LONG = 1_000_000


@pytest.fixture(params=subjects())
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param


def test_every_method_of_adaptation_is_found_and_exported():
    exported = set(adaptation.__all__)
    if is_installed("torch"):
        exported |= set(importlib.import_module("springback.adaptation.networks").__all__)
    assert {one.__name__ for one in adaptation_classes()} <= exported
    assert len(adaptation_classes()) >= 4


def test_answers_are_probabilities(subject):
    model, rows = subject.make(), subject.rows
    tracked, stepped = model.track(rows), model.step(rows[0])
    assert tracked.ndim == 2
    assert len(tracked) == len(rows)
    assert stepped.shape == tracked.shape[1:]
    for answers in (tracked, stepped):
        assert np.isfinite(answers).all()
        assert (answers >= 0).all()
        assert np.allclose(answers.sum(axis=-1), 1, atol=1e-5)


def test_labels_are_the_most_probable_classes(subject):
    model = subject.make()
    if not hasattr(model, "track_labels"):
        pytest.skip("this model has no labels")
    best = model.track(subject.rows).argmax(axis=1)
    assert np.array_equal(model.track_labels(subject.rows), getattr(model, "classes_", np.arange(LONG))[best])


def test_track_leaves_the_model_as_it_was(subject):
    model, untouched = subject.moved(), subject.moved()
    first = model.track(subject.rows)
    assert np.array_equal(model.track(subject.rows), first)
    assert np.array_equal(model.step(subject.rows[0]), untouched.step(subject.rows[0]))


def test_the_stream_moves_the_model(subject):
    moved, still = subject.moved(), subject.make()
    assert any(
        not np.array_equal(moved.track(rows), still.track(rows)) for rows in (subject.rows[n:] for n in range(9))
    )


def test_steps_one_by_one_are_the_tracked_stream(subject):
    model = subject.make()
    assert subject.same([model.step(row) for row in subject.rows], subject.make().track(subject.rows))


def test_a_stream_may_be_split_anywhere(subject):
    whole = subject.make().track(subject.rows)
    for steps in (1, 4, len(subject.rows) - 1):
        assert subject.same(subject.moved(steps).track(subject.rows[steps:]), whole[steps:])


def test_after_a_reset_the_model_is_as_new(subject):
    model = subject.moved()
    model.reset()
    assert np.array_equal(model.track(subject.rows), subject.make().track(subject.rows))


def test_no_time_changes_nothing(subject):
    model = subject.moved()
    model.relax(0)
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


def test_a_long_silence_is_a_reset_if_the_model_has_a_notion_of_time(subject):
    model = subject.moved()
    model.relax(LONG)
    if subject.draws:
        assert not model.short_term_.any()
        return
    rested = (subject.make() if subject.relaxes else subject.moved()).track(subject.rows)
    assert subject.close(model.track(subject.rows), rested)


def test_silences_add_up(subject):
    twice, once = subject.moved(), subject.moved()
    twice.relax(2)
    twice.relax(3)
    once.relax(5)
    assert subject.close(twice.track(subject.rows), once.track(subject.rows))


def test_time_must_be_given_and_cannot_run_backwards_in_relax(subject):
    model = subject.moved()
    with pytest.raises(TypeError):
        model.relax()
    for wrong in (-1, np.nan):
        with pytest.raises(ValueError, match="elapsed must be"):
            model.relax(wrong)
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


def test_time_stamps_one_step_apart_are_no_time_stamps(stamped):
    times = 3.0 + np.arange(len(stamped.rows))
    whole = stamped.make().track(stamped.rows)
    assert stamped.close(stamped.make().track(stamped.rows, times), whole)
    model = stamped.make()
    assert stamped.close([model.step(row, time) for row, time in zip(stamped.rows, times, strict=True)], whole)


def test_a_gap_between_time_stamps_is_a_silence(stamped):
    rows = stamped.rows
    gap, silence = stamped.moved(), stamped.moved()
    silence.relax(4)
    assert stamped.close(gap.track(rows, 9 + np.arange(len(rows))), silence.track(rows))
    assert stamped.close(gap.step(rows[0], 9), silence.step(rows[0]))
    assert stamped.close(gap.track(rows), silence.track(rows))


def test_time_stamps_that_run_backwards_are_refused_and_nothing_moves(stamped):
    model, rows = stamped.moved(), stamped.rows
    with pytest.raises(ValueError, match=r"^time must be >= 4, the time of the last frame; got [^\n]*$"):
        model.step(rows[0], 1)
    with pytest.raises(ValueError, match=r"^times must.* backwards.*; got [^\n]*$"):
        model.track(rows[:3], [7, 9, 8])
    assert np.array_equal(model.track(rows), stamped.moved().track(rows))


def test_there_is_one_time_stamp_for_each_row(stamped):
    model = stamped.moved()
    with pytest.raises(ValueError, match="times must"):
        model.track(stamped.rows[:3], [7, 8])
    assert np.array_equal(model.track(stamped.rows), stamped.moved().track(stamped.rows))


@pytest.fixture
def stamped(subject: Subject) -> Subject:
    if not subject.stamped:
        pytest.skip("this model takes no time stamps")
    return subject


def test_rows_with_nan_are_refused_or_only_let_time_pass(subject):
    if subject.rows.dtype.kind != "f":
        pytest.skip("the rows of this model are whole numbers")
    broken = subject.rows.copy()
    broken[3, 2] = np.nan
    model, other = subject.moved(), subject.moved()
    if subject.refuses_nan:
        for call in (lambda: model.step(broken[3]), lambda: model.track(broken)):
            with pytest.raises(ValueError, match="finite"):
                call()
    else:
        model.step(broken[3])
        other.relax(1)
    assert subject.close(model.track(subject.rows), other.track(subject.rows))


def test_rows_of_another_width_are_refused_and_nothing_moves(subject):
    model = subject.moved()
    for call in (lambda: model.step(subject.rows[0, :-1]), lambda: model.track(subject.rows[:, :-1])):
        with pytest.raises((ValueError, TypeError, RuntimeError)):  # the last is PyTorch's own
            call()
    assert np.array_equal(model.track(subject.rows), subject.moved().track(subject.rows))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_continues_as_the_model_would_and_apart_from_it(subject, duplicate):
    model = subject.moved()
    other = duplicate(model)
    expected = model.track(subject.rows)
    assert np.array_equal(other.track(subject.rows), expected)
    for row in subject.rows[:3]:
        other.step(row)
    assert np.array_equal(model.track(subject.rows), expected)


def test_a_saved_model_continues_where_it_was(subject, tmp_path):
    model, path = subject.moved(), tmp_path / "model.safetensors"
    if not hasattr(model, "save"):
        pytest.skip("this model has no files")
    model.save(path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    for name in ("track", "track_labels"):
        if hasattr(model, name):
            assert np.array_equal(getattr(loaded, name)(subject.rows), getattr(model, name)(subject.rows))
    assert np.array_equal(loaded.step(subject.rows[0]), model.step(subject.rows[0]))
    assert np.array_equal(loaded.reset().track(subject.rows), subject.make().track(subject.rows))


def test_a_state_as_bytes_is_that_of_the_stream_and_is_refused_if_it_has_changed(subject):
    model, other = subject.moved(), subject.make()
    if not hasattr(model, "get_state"):
        pytest.skip("this model has no state as bytes")
    state = model.get_state()
    assert np.array_equal(other.set_state(state).track(subject.rows), model.track(subject.rows))
    model.step(subject.rows[0])
    assert np.array_equal(other.track(subject.rows), subject.moved().track(subject.rows))
    assert subject.moved().get_state() == state
    changed = bytearray(state)
    changed[-9] ^= 1
    for wrong in (bytes(changed), state[:-1], state + b"x", b"", other.reset().get_state()[:-20]):
        with pytest.raises(ValueError, match=r"^state must"):
            other.set_state(wrong)
    with pytest.raises(TypeError, match="must be bytes from get_state"):
        other.set_state("state")
    assert np.array_equal(other.track(subject.rows), subject.make().track(subject.rows))


def test_two_models_do_not_disturb_each_other(subject):
    one, other = subject.make(), subject.moved()
    answers = []
    for row in subject.rows:
        answers.append(one.step(row))
        other.step(subject.rows[0])
    assert subject.same(answers, subject.make().track(subject.rows))


def test_the_input_is_not_written_to(subject):
    rows, model = subject.rows.copy(), subject.make()
    model.track(rows)
    for row in rows:
        model.step(row)
    assert np.array_equal(rows, subject.rows)
