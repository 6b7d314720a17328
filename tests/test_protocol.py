"""One protocol for every streaming model of the library: `check_stream_model`, and what it must find.

The models are in `tests/streaming_models.py`.
"""

import pickle

import numpy as np
import pytest

from springback.files.models import load_model
from springback.heads import ElasticHead, Springs
from springback.streaming.records import Followed
from springback.streaming.stream_model import StreamModel
from springback.testing import check_stream_model
from springback_bench.rivals import all_rivals
from tests.streaming_models import Subject, adaptation_classes, subjects


@pytest.fixture(params=subjects())
def subject(request: pytest.FixtureRequest) -> Subject:
    return request.param


def test_every_method_of_adaptation_is_found_and_compared():
    assert set(adaptation_classes()) == {one.method for one in all_rivals()}
    assert len(adaptation_classes()) >= 4


def test_every_model_keeps_the_promises_of_a_stream_model(subject):
    check_stream_model(subject.make(), subject.rows, **subject.promises)


def test_a_pickled_model_continues_as_it_would_have(subject):
    model = subject.moved()
    other = pickle.loads(pickle.dumps(model))
    assert np.array_equal(other.track(subject.rows), model.track(subject.rows))


def test_a_file_says_which_model_it_holds(subject, tmp_path):
    model = subject.moved()
    if not isinstance(model, StreamModel) or subject.name == "OnnxStream":
        pytest.skip("this model has no file of springback")
    model.save(tmp_path / "model.safetensors")
    assert type(load_model(tmp_path / "model.safetensors")) is type(model)


class Faulty(ElasticHead):
    """A head that breaks one promise; each class below does so in its own way."""

    def __init__(self) -> None:
        super().__init__(np.eye(3), np.zeros(3), Springs(pull=2.0, memory=2.0))


class Unmoved(Faulty):
    def step(self, x, time=None):
        return self.track(np.asarray(x)[None], None if time is None else [time])[0]


class Dragging(Faulty):
    def track(self, X, times=None):
        return self.track_response(X, times, in_place=True).posterior


class Deaf(Faulty):
    def relax(self, elapsed):
        return self if 0 < elapsed < 9 else super().relax(elapsed)


class Greedy(Faulty):
    def step(self, x, time=None):
        super().step(np.ones(3))
        return super().step(x, time)


class Boastful(Faulty):
    def track(self, X, times=None):
        return 2 * super().track(X, times)


class Forgetful(Faulty):
    def get_state(self):
        return super(Forgetful, Forgetful()).get_state()


class Credulous(Faulty):
    def set_state(self, state):
        try:
            return super().set_state(state)
        except ValueError:
            return self


class Nameless(Faulty):
    def labels_of(self, followed: Followed):
        return np.full(len(followed.posterior), "what?")


class Scribbling(Faulty):
    def step(self, x, time=None):
        answer = super().step(x, time)
        x[0] += 1e-9
        return answer


@pytest.mark.parametrize(
    ("faulty", "promise"),
    [
        (Unmoved, "steps must answer as track does"),
        (Dragging, "track must leave the model as it was"),
        (Deaf, "a gap between time stamps must be a silence"),
        (Greedy, "steps must answer as track does"),
        (Boastful, "answers must sum to one"),
        (Forgetful, "must continue from a state as bytes"),
        (Credulous, "a state that has changed must be refused"),
        (Nameless, "labels must be among possible_labels_"),
        (Scribbling, "the input must not be written to"),
    ],
)
def test_a_broken_promise_is_found(faulty, promise):
    with pytest.raises(AssertionError, match=promise):
        check_stream_model(faulty(), np.random.default_rng(0).random((30, 3)))
