"""`step` of the estimators: frames that are followed at once, and everything else, which takes the longer way."""

import copy
import pickle

import numpy as np
import pytest

from springback.elastic import ElasticClassifier, ElasticClustering, ExponentialSum, Windowed
from springback.elastic._dense import run_dense
from springback.elastic._stepper import _copy_if_ordinary
from springback.elastic.algorithm import init, prepare
from springback.elastic.params import Elasticity

RESTING = np.eye(4, 6)


@pytest.fixture
def frames() -> np.ndarray:
    return np.random.default_rng(0).random((12, 6))


def a_model(**params: object) -> ElasticClustering:
    return ElasticClustering(4, resting=RESTING, kappa=20.0, pull=3.0, **params).fit(RESTING)


def same_state(one: ElasticClustering, other: ElasticClustering) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.state_, other.state_, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("likelihood", ["exponential", "linear"])
def test_steps_are_the_tracked_stream_bit_for_bit(frames, dtype, likelihood):
    model = a_model(likelihood=likelihood)
    expected = model.track(frames.astype(dtype))
    assert np.array_equal([model.step(x) for x in frames.astype(dtype)], expected)


@pytest.mark.parametrize(
    "given",
    [
        lambda x: x.tolist(),
        lambda x: x[::-1].copy()[::-1],
        lambda x: np.frombuffer(x.tobytes()),
        lambda x: x.astype(">f8"),
        lambda x: x.astype(object),
        lambda x: x[None],
    ],
    ids=["a list", "strided", "read-only", "another byte order", "objects", "one row"],
)
def test_a_frame_in_any_form_gives_the_same_answer(frames, given):
    model, other = a_model(), a_model()
    assert np.array_equal([model.step(given(x)) for x in frames], [other.step(x) for x in frames])
    assert same_state(model, other)


@pytest.mark.parametrize("magnitude", [1e-300, 2.0**-21, 1e12, 1e300])
def test_a_frame_of_any_length_gives_the_same_answer(frames, magnitude):
    model = a_model()
    expected = model.track(frames)
    assert np.allclose([model.step(x * magnitude) for x in frames], expected, rtol=1e-9)


def test_a_silent_frame_only_lets_time_pass(frames):
    model, other = a_model(), a_model()
    model.step(frames[0])
    other.step(frames[0])
    assert np.allclose(model.step(np.zeros(6)), 0.25)
    other.relax(1.0)
    assert np.array_equal(model.step(frames[1]), other.step(frames[1]))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.full(6, np.nan), "x must be finite everywhere; got NaN"),
        (np.array([1.0, np.inf, 0, 0, 0, 0]), "x must be finite everywhere; got infinity"),
        (np.ones(5), r"x must be one frame of shape \(6,\)"),
        (np.ones((2, 6)), r"x must be one frame of shape \(6,\)"),
        (np.array(["a"] * 6), "x must hold real numbers"),
        (np.ones(6, complex), "x must hold real numbers"),
    ],
)
def test_a_refused_frame_changes_nothing(frames, bad, message):
    model, other = a_model(), a_model()
    for x in frames[:3]:
        model.step(x)
        other.step(x)
    with pytest.raises((TypeError, ValueError), match=message):
        model.step(bad)
    assert same_state(model, other)
    assert np.array_equal(model.step(frames[3]), other.step(frames[3]))


@pytest.mark.parametrize("bad", [2.5, float("nan"), float("inf"), np.datetime64("NaT"), "noon", [1.0, 2.0]])
def test_a_refused_time_changes_nothing(frames, bad):
    model, other = a_model(), a_model()
    for one in (model, other):
        one.step(frames[0], 3.0)
    with pytest.raises((TypeError, ValueError), match="time must"):
        model.step(frames[1], bad)
    assert same_state(model, other)


@pytest.mark.parametrize("times", [[0.0, 0.5, 4.0], [0, 1, 4], np.array([0, 1, 4]), np.array([0, 1, 4], "M8[s]")])
def test_times_of_any_kind_are_those_of_the_tracked_stream(frames, times):
    model = a_model()
    expected = model.track(frames[:3], times)
    assert np.array_equal([model.step(x, time) for x, time in zip(frames[:3], times, strict=True)], expected)


def test_the_last_count_is_refused_as_in_a_tracked_stream(frames):
    model = a_model()
    model.step(frames[0])
    model.relax(2.0**54)
    for refused in (lambda: model.step(frames[1]), lambda: model.track(frames[1:])):
        with pytest.raises(ValueError, match=r"times must be given: one step after 1.80144e\+16 cannot be"):
            refused()


def test_a_step_after_a_time_stamp_too_large_to_count_on_is_one_frame(frames):
    model, untimed = a_model(), a_model()
    model.step(frames[0], 2.0**54)
    untimed.step(frames[0])
    assert np.array_equal(model.step(frames[1]), untimed.step(frames[1]))


def test_rows_of_raw_channels_are_scaled(frames):
    raw = np.array([1e3, 1.0, 1e-3, 1.0, 1.0, 1.0]) * (frames + 9.0)
    model = ElasticClustering(3, random_state=0, scaling="standard").fit(raw)
    expected = model.track(raw)
    assert np.array_equal([model.step(x) for x in raw], expected)
    with pytest.raises(ValueError, match="x must be finite everywhere"):
        model.step(np.full(6, np.nan))


def test_a_window_of_frames_is_followed_too(frames):
    model = a_model(kernel=Windowed(function=lambda lag: 1 / (1 + lag), frames=5))
    expected = model.track(frames)
    assert np.array_equal([model.step(x) for x in frames], expected)


def test_inputs_that_pull_with_their_own_length_are_refused_if_they_are_extreme(frames):
    model = a_model(unit_inputs=False)
    expected = model.track(frames)
    assert np.array_equal([model.step(x) for x in frames], expected)
    with pytest.raises(ValueError, match="largest entry within"):
        model.step(frames[0] * 1e120)


def test_a_stream_goes_on_after_everything_that_replaces_the_state(frames):
    for change in (
        lambda model: model.reset(),
        lambda model: model.relax(2.0),
        lambda model: model.set_state(a_model().partial_fit(frames[:4]).get_state()),
        lambda model: model.partial_fit(frames[:2]),
        lambda model: model.fit(RESTING),
    ):
        model, fresh = a_model(), a_model()
        model.step(frames[0])
        fresh.partial_fit(frames[:1])
        change(model)
        change(fresh)
        assert np.array_equal(model.step(frames[5]), fresh.track(frames[5:6])[0])


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_a_stream_of_its_own(frames, copied):
    model = a_model()
    model.step(frames[0])
    other = copied(model)
    expected = model.track(frames[1:2])[0]
    other.step(frames[1])
    assert np.array_equal(model.step(frames[1]), expected)


def test_a_copy_holds_no_buffers(frames):
    model, fresh = a_model(), a_model()
    model.step(frames[0])
    assert len(pickle.dumps(model)) == len(pickle.dumps(fresh.partial_fit(frames[:1])))


def test_an_answer_belongs_to_the_caller(frames):
    model = a_model()
    first = model.step(frames[0])
    kept = first.copy()
    model.step(frames[1])
    assert np.array_equal(first, kept)


def test_the_names_of_clusters_are_those_of_the_last_labels(frames):
    model = ElasticClassifier(ElasticClustering(4, resting=RESTING)).fit(RESTING, ["a", "a", "b", "b"])
    model.step(frames[0])
    model.partial_fit(np.tile(RESTING, (50, 1)), ["b", "b", "a", "a"] * 50)
    expected = model.track(frames[1:2])[0]
    answer = model.step(frames[1])
    assert np.allclose(answer, expected, rtol=1e-12)
    assert np.isclose(answer.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_posterior_of_labels_is_that_of_the_clusters_times_their_shares(dtype):
    rng = np.random.default_rng(0)
    rows, labels = rng.random((300, 9)).astype(dtype), rng.integers(0, 7, 300)
    model = ElasticClassifier(ElasticClustering(50, resting=rows[:50], kappa=20.0)).fit(rows, labels)
    posterior = model.clustering_.track(rows[:1])[0]
    assert posterior.dtype == dtype
    expected = posterior.astype(np.float64) @ model.label_shares_
    assert len(expected) == 7
    assert np.allclose(model.step(rows[0]), expected / expected.sum(), rtol=1e-12)


def test_labels_of_other_clusters_are_refused(frames):
    model = ElasticClassifier(ElasticClustering(3, resting=RESTING[:3])).fit(RESTING[:3], ["a", "b", "c"])
    model.clustering_ = a_model()
    with pytest.raises(ValueError, match=r"posterior must have shape \(3,\); got \(4,\)"):
        model.step(frames[0])


def test_streams_that_take_turns_do_not_disturb_each_other(frames):
    one, other = a_model(), a_model(kernel=ExponentialSum(weights=(1.0, 0.5), memories=(1.0, 5.0)))
    expected = [one.track(frames), other.track(frames[::-1])]
    answers = [(one.step(x), other.step(y)) for x, y in zip(frames, frames[::-1], strict=True)]
    assert np.array_equal(np.swapaxes(answers, 0, 1), expected)


def test_the_state_of_another_model_is_refused(frames):
    model = a_model()
    model.state_ = init(prepare(Elasticity(), np.eye(3, 6)))
    with pytest.raises(ValueError, match=r"state\.stored must have shape"):
        model.step(frames[0])


def test_frames_of_any_form_share_one_compiled_function(frames):
    model = a_model()
    for x in (frames[0], frames[1].astype(np.float32), frames.T[:, 2], np.frombuffer(frames[3].tobytes())):
        model.step(x)
    before = len(run_dense.signatures), len(_copy_if_ordinary.signatures)
    for x in (frames[4], frames[5].astype(np.float32), frames.T[:, 6], np.frombuffer(frames[7].tobytes())):
        model.step(x)
    assert (len(run_dense.signatures), len(_copy_if_ordinary.signatures)) == before
    of_this_precision = [one for one in _copy_if_ordinary.signatures if one[3].dtype.name == "float64"]
    assert len(of_this_precision) <= 2
