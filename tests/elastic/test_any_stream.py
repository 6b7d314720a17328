"""Streams as they come: of any magnitude, with gaps, cut anywhere, and with frames that cannot be taken."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springback.elastic import (
    ElasticClassifier,
    ElasticClustering,
    Elasticity,
    Exponential,
    ExponentialSum,
    Windowed,
    init,
    init_streams,
    prepare,
    read,
    step_streams,
    track,
)

RNG = np.random.default_rng(5)
CENTROIDS = np.abs(RNG.normal(size=(4, 6)))
CENTROIDS /= np.linalg.norm(CENTROIDS, axis=1, keepdims=True)
ROWS = RNG.normal(size=(12, 6)) * 0.2 + CENTROIDS[RNG.integers(0, 4, 12)]

MODELS = {
    "exponential": Elasticity(kappa=20.0, pull=2.0),
    "two memories": Elasticity(kappa=20.0, pull=2.0, kernel=ExponentialSum(weights=(0.5, 0.5), memories=(1.0, 9.0))),
    "windowed": Elasticity(kappa=20.0, pull=2.0, kernel=Windowed(function=Exponential(memory=2.0), frames=8)),
    "biases move": Elasticity(kappa=20.0, pull=None, beta=0.5),
    "weight dependence": Elasticity(kappa=20.0, pull=2.0, weight_dependence=-0.3),
    "linear": Elasticity(likelihood="linear", pull=2.0),
}
DTYPES = {"float32": np.float32, "float64": np.float64}


def unit(rows):
    wide = rows.astype(np.longdouble)
    wide = wide / np.abs(wide).max(axis=1, keepdims=True)
    return (wide / np.sqrt((wide**2).sum(axis=1, keepdims=True))).astype(np.float64)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(scales=st.lists(st.floats(-300, 300), min_size=12, max_size=12))
def test_only_the_direction_of_a_row_matters_from_1e_minus_300_to_1e300(name, scales):
    model = prepare(MODELS[name], CENTROIDS)
    rows = ROWS * 10.0 ** np.array(scales)[:, None]
    _, plain = track(model, init(model), unit(rows))
    state, response = track(model, init(model), rows)
    np.testing.assert_allclose(response.posterior, plain.posterior, atol=1e-9)
    np.testing.assert_allclose(response.similarity, plain.similarity, atol=1e-9)
    assert all(np.isfinite(part).all() or np.isnan(part).any() for part in state)
    np.testing.assert_allclose(read(model, state, rows).posterior, read(model, state, unit(rows)).posterior, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(scales=st.lists(st.floats(-44.8, 38), min_size=12, max_size=12))
def test_only_the_direction_of_a_row_matters_in_single_precision(name, scales):
    model = prepare(MODELS[name], CENTROIDS.astype(np.float32))
    rows = (ROWS / np.abs(ROWS).max() * 10.0 ** np.array(scales)[:, None]).astype(np.float32)
    rows[~rows.any(axis=1), 0] = np.finfo(np.float32).smallest_subnormal
    _, plain = track(model, init(model), unit(rows).astype(np.float32))
    _, response = track(model, init(model), rows)
    np.testing.assert_allclose(response.posterior, plain.posterior, atol=2e-3)
    np.testing.assert_allclose(response.posterior.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("exponent", [-1000, -600, -100, 100, 600, 1020])
def test_rows_times_a_power_of_two_give_the_same_bits(exponent):
    model = prepare(MODELS["exponential"], CENTROIDS)
    rows = np.where(np.abs(ROWS) < 1e-3, 0, ROWS)
    _, plain = track(model, init(model), np.ldexp(rows, 30))
    _, scaled = track(model, init(model), np.ldexp(rows / 4, exponent))
    assert scaled.posterior.tobytes() == plain.posterior.tobytes()


@pytest.mark.parametrize("scale", [1e-40, 1e-30, 1e30, 1e37])
def test_an_estimator_with_default_parameters_takes_near_silent_and_huge_rows(scale):
    rows = (ROWS * scale).astype(np.float32)
    plain = ElasticClustering(3, random_state=0).fit(ROWS.astype(np.float32)).partial_fit(ROWS[:5].astype(np.float32))
    model = ElasticClustering(3, random_state=0).fit(rows).partial_fit(rows[:5])
    np.testing.assert_allclose(model.predict_proba(rows), plain.predict_proba(ROWS.astype(np.float32)), atol=1e-3)
    np.testing.assert_allclose(model.transform(rows), plain.transform(ROWS.astype(np.float32)), atol=1e-4)
    assert np.isfinite(model.score_samples(rows)).all()


def test_a_single_precision_model_takes_rows_that_only_double_precision_can_hold():
    model = ElasticClustering(3, random_state=0).fit(ROWS.astype(np.float32))
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(model.track(ROWS * scale), model.track(ROWS), atol=1e-4)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_rows_that_pull_with_their_own_length_must_be_moderate(scale):
    model = ElasticClustering(3, unit_inputs=False, random_state=0).fit(ROWS)
    with pytest.raises(
        ValueError, match=r"if unit_inputs is False; got .*: scale the data, or leave unit_inputs at Tr"
    ):
        model.partial_fit(ROWS * scale)


def test_centroids_beyond_all_measure_are_refused():
    for scale in (1e-200, 1e200):
        with pytest.raises(ValueError, match=r"resting must have a largest entry within 1e-09 ... 1e\+09 in each row"):
            prepare(Elasticity(pull=1.0), CENTROIDS * scale)


def bits(state):
    return b"".join(part.tobytes() for part in state)


def wrong(rows, what):
    bad = rows.copy()
    if what in ("NaN", "inf"):
        bad[len(bad) // 2, 1] = {"NaN": np.nan, "inf": np.inf}[what]
        return bad, None
    if what == "another width":
        return bad[:, :-1], None
    return bad, {"time runs backwards": np.arange(len(rows))[::-1], "too few times": np.arange(3)}[what]


REFUSALS = ["NaN", "inf", "another width", "time runs backwards", "too few times"]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("what", REFUSALS)
def test_what_the_core_refuses_leaves_the_state_as_it_was(name, what):
    model = prepare(MODELS[name], CENTROIDS)
    state = init(model)
    track(model, state, ROWS[:5], in_place=True)
    before = bits(state)
    frames, times = wrong(ROWS, what)
    with pytest.raises(ValueError, match="must"):
        track(model, state, frames, times, in_place=True)
    assert bits(state) == before


@pytest.mark.parametrize("what", REFUSALS)
def test_what_an_estimator_refuses_leaves_it_as_it_was(what):
    frames, times = wrong(ROWS, what)
    labels = np.arange(12) % 2
    clusters = ElasticClustering(3, random_state=0)
    named = ElasticClassifier(ElasticClustering(3, random_state=0))
    for model, more in ((clusters, {}), (named, {"y": labels})):
        with pytest.raises(ValueError, match=r"X has 5 features|must"):
            model.partial_fit(frames, times=[3, 2, 1] if what == "another width" else times, **more)
        assert not [name for name in vars(model) if name.endswith("_")]
        model.fit(ROWS, labels)
        model.partial_fit(ROWS, **more)
        before = pickle.dumps(model)
        for act in (model.partial_fit, model.track):
            with pytest.raises(ValueError, match=r"X has 5 features|must"):
                act(frames, times=times, **(more if act == model.partial_fit else {}))
            assert pickle.dumps(model) == before
        if times is None:
            with pytest.raises(ValueError, match=r"X has 5 features|must"):
                model.predict(frames)
            with pytest.raises(ValueError, match=r"n_clusters|must"):
                model.fit(np.full((2, 5), np.nan), [0, 1])
        assert pickle.dumps(model) == before


def test_labels_outside_the_given_classes_leave_a_classifier_unfitted():
    named = ElasticClassifier(ElasticClustering(3, random_state=0))
    with pytest.raises(ValueError, match=r"y must hold only \[0, 1\]"):
        named.partial_fit(ROWS, np.arange(12) % 3, classes=[0, 1])
    assert not hasattr(named, "clustering_")


def test_a_kernel_that_fails_late_in_a_long_batch_leaves_the_state_as_it_was():
    def fading(lag):
        return np.where(lag < 5, 1.0, -1.0)

    model = prepare(Elasticity(pull=1.0, kernel=Windowed(function=fading, frames=3)), CENTROIDS)
    state = init(model)
    track(model, state, ROWS[:2], in_place=True)
    before = bits(state)
    rows = np.resize(ROWS, (5000, 6))
    times = np.concatenate([np.arange(4900) * 0.001, 1000 + 10 * np.arange(100.0)]) + 2
    with pytest.raises(ValueError, match=r"Windowed.function must be >= 0 everywhere"):
        track(model, state, rows, times, in_place=True)
    assert bits(state) == before


def test_a_missing_frame_is_a_gap_in_time_or_a_row_of_zeros():
    model = prepare(MODELS["exponential"], CENTROIDS)
    times = np.array([0, 1, 2, 5, 6, 7])
    _, gap = track(model, init(model), ROWS[:6], times)
    with_zeros = np.zeros((8, 6))
    with_zeros[times] = ROWS[:6]
    _, zeros = track(model, init(model), with_zeros)
    np.testing.assert_allclose(zeros.posterior[times], gap.posterior, atol=1e-12)


@pytest.mark.parametrize("model", [ElasticClustering(3, random_state=0), ElasticClassifier(ElasticClustering(3))])
def test_batches_of_any_size_make_the_same_stream(model):
    labels = np.arange(12) % 2
    whole, cut = (pickle.loads(pickle.dumps(model)).fit(ROWS, labels) for _ in range(2))
    if isinstance(model, ElasticClassifier):
        cut.clustering_ = pickle.loads(pickle.dumps(whole.clustering_))
    whole.partial_fit(ROWS)
    for start, stop in ((0, 5), (5, 6), (6, 12)):
        cut.partial_fit(ROWS[start:stop])
    state, other = ((one.clustering_ if hasattr(one, "clustering_") else one).state_ for one in (whole, cut))
    assert bits(state) == bits(other)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"frames": np.full((3, 6), np.nan)}, "frames must be finite everywhere; got NaN in row 0"),
        ({"frames": ROWS[:2]}, r"frames must have shape \(3, n\), one for each stream shown; got 2 rows"),
        ({"frames": ROWS[:3, :4]}, r"frames must have shape \(any, 6\)"),
        ({"which": [0.5, 1.5, 2.5]}, "which must be the numbers of streams"),
        ({"which": [0, 0, 1]}, "which must name different streams"),
        ({"times": [5.0, np.nan, 5.0]}, "times must be finite everywhere"),
        ({"times": [5.0, -1.0, 5.0]}, "times must not run backwards in any stream"),
        ({"times": [5.0]}, "times must hold one time stamp for each of 3 frames; got 1"),
    ],
)
def test_what_many_streams_refuse_leaves_all_of_them_as_they_were(change, sentence):
    model = prepare(MODELS["exponential"], CENTROIDS)
    streams = init_streams(model, 3, 5)
    step_streams(model, streams, ROWS[:3])
    before = bits(streams)
    with pytest.raises(ValueError, match=sentence):
        step_streams(model, streams, **{"frames": ROWS[3:6], **change})
    assert bits(streams) == before
    step_streams(model, streams, ROWS[:1], which=[1])
    step_streams(model, streams, ROWS[:3])
    assert streams.clock[:, 0].tolist() == [1.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("wrong_argument", "sentence"),
    [
        ({"memory": -1}, "^memory must be > 0; got -1"),
        ({"kappa": 0}, "^kappa must be > 0; got 0"),
        ({"pull": 1e300}, "^pull must be <= 1e"),
        ({"pull": None}, "^pull must be a number unless beta is given"),
        ({"novelty_threshold": 3.0}, "^novelty_threshold must be <= 1"),
        ({"max_iter": 0}, "^max_iter must be >= 1"),
        ({"tol": -1.0}, "^tol must be >= 0"),
        ({"pull": None, "beta": 1e-300}, "^beta must be at least"),
    ],
)
def test_an_estimator_names_the_argument_that_was_typed(wrong_argument, sentence):
    with pytest.raises(ValueError, match=sentence):
        ElasticClustering(**{"n_clusters": 3, **wrong_argument}).fit(ROWS)


@pytest.mark.parametrize("frames", [[[1.0], [1.0, 2.0]], [["a"] * 6], ROWS * 1j, np.zeros((2, 6), "M8[s]")])
def test_frames_that_are_no_rows_of_numbers_are_refused(frames):
    model = prepare(MODELS["exponential"], CENTROIDS)
    with pytest.raises((TypeError, ValueError), match="frames must"):
        track(model, init(model), frames)


@pytest.mark.parametrize("far", [np.nan, np.inf, -1.0])
def test_a_kernel_that_is_no_finite_number_at_some_lag_is_refused(far):
    kernel = Windowed(function=lambda lag: np.where(lag > 1, far, 1.0), frames=4)
    model = prepare(Elasticity(pull=1.0, kernel=kernel), CENTROIDS)
    with pytest.raises(ValueError, match=r"Windowed.function must be >= 0 everywhere, and finite"):
        track(model, init(model), ROWS)
