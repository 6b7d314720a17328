import json
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer
from sklearn.utils.estimator_checks import check_estimator

from springback.elastic import ElasticClassifier, ElasticClustering, Exponential, Windowed
from springback.elastic.density import sample_vmf

SKIPPED_WITH_REASON = {
    "check_array_api_input": "only runs if SCIPY_ARRAY_API is set before SciPy is imported",
    "check_classifier_data_not_an_array": "its second half needs pandas, which is not installed",
}


def rows(n=300, features=6, clusters=3, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.abs(rng.normal(size=(clusters, features)))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    labels = rng.integers(clusters, size=n)
    return sample_vmf(centres[labels], 80.0, rng), labels


@pytest.mark.parametrize(
    "estimator", [ElasticClustering(random_state=0), ElasticClassifier()], ids=lambda e: type(e).__name__
)
def test_scikit_learn_accepts_the_estimator(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 40
    unhappy = {r["check_name"]: r for r in results if r["status"] != "passed"}
    for name, result in unhappy.items():
        assert result["status"] == "skipped", f"{name}: {result['exception']!r}"
        assert name in SKIPPED_WITH_REASON


def test_fit_finds_the_clusters():
    x, labels = rows()
    for resting in ("vmf", "kmeans"):
        model = ElasticClustering(3, resting=resting, random_state=0).fit(x)
        table = np.zeros((3, 3))
        np.add.at(table, (labels, model.labels_), 1)
        assert table.max(axis=1).sum() / len(x) > 0.95
        np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1)


def test_reading_moves_nothing_and_moving_moves():
    x, _ = rows()
    model = ElasticClustering(3, random_state=0).fit(x)
    before = pickle.dumps(model.state_)
    model.predict(x), model.predict_proba(x), model.score_samples(x), model.transform(x), model.track(x)
    model.sample(5, random_state=0)
    assert pickle.dumps(model.state_) == before
    resting = model.cluster_centers_.copy()
    model.partial_fit(x[:5])
    assert np.abs(model.short_term_).max() > 0.1
    np.testing.assert_array_equal(model.cluster_centers_, resting)
    np.testing.assert_allclose(model.efficacy_, resting + model.short_term_)
    model.reset()
    assert not model.short_term_.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_by_row_equals_all_at_once_and_track_predicts_it(dtype):
    x, _ = rows()
    x = x.astype(dtype)
    model = ElasticClustering(3, random_state=0, beta=1.0).fit(x)
    predicted = model.track(x[:40])
    assert predicted.dtype == dtype
    whole = pickle.loads(pickle.dumps(model)).partial_fit(x[:40])
    for row in x[:40]:
        model.partial_fit(row[None])
    for a, b in zip(model.state_, whole.state_, strict=True):
        assert a.tobytes() == b.tobytes()
    assert len(predicted) == 40


def test_no_pull_predicts_as_at_rest_bit_for_bit():
    x, _ = rows()
    model = ElasticClustering(3, pull=0.0, random_state=0).fit(x)
    assert model.track(x).tobytes() == model.predict_proba(x).tobytes()


def test_a_saved_model_goes_on_exactly_where_it_was():
    x, _ = rows()
    model = ElasticClustering(3, random_state=0).fit(x).partial_fit(x[:50])
    again = pickle.loads(pickle.dumps(model))
    assert model.track(x[50:]).tobytes() == again.track(x[50:]).tobytes()


def test_given_centroids_are_where_it_rests():
    given = np.array([[1.0, 0.0], [0.5, 0.5]])
    model = ElasticClustering(2, resting=given).partial_fit(np.array([[1.0, 0.2]]))
    np.testing.assert_array_equal(model.cluster_centers_, given)
    with pytest.raises(ValueError, match="resting must have shape"):
        ElasticClustering(3, resting=given).fit(given)


def test_novel_inputs_are_answered_with_minus_one_and_pull_nothing():
    x, _ = rows()
    model = ElasticClustering(3, novelty_threshold="auto", random_state=0).fit(x)
    assert model.novelty_threshold_ == pytest.approx(np.quantile(model.transform(x).max(axis=1), 0.001))
    opposite = -x[:20]
    assert (model.predict(opposite) == -1).all()
    assert (model.predict(x) == -1).sum() <= 1
    assert not model.partial_fit(opposite).short_term_.any()
    with pytest.raises(ValueError, match="novelty_threshold must be one of 'auto'"):
        ElasticClustering(3, novelty_threshold="yes").fit(x)


def test_the_log_likelihood_is_that_of_the_mixture_it_samples_from():
    x, _ = rows(features=3)
    model = ElasticClustering(3, kappa=20.0, random_state=0).fit(x).partial_fit(x[:3])
    rng = np.random.default_rng(0)
    uniform = rng.normal(size=(200_000, 3))
    assert np.exp(model.score_samples(uniform)).mean() * 4 * np.pi == pytest.approx(1, abs=0.02)
    drawn, labels = model.sample(20_000, random_state=0)
    entropy = -model.score(drawn)
    others, _ = model.sample(20_000, random_state=1)
    assert -model.score(others) == pytest.approx(entropy, abs=0.05)
    assert (model.predict(drawn) == labels).mean() > 0.8
    assert model.score(drawn) > model.reset().score(drawn)


def test_the_next_observation_is_predicted_after_the_spring_has_relaxed():
    x, _ = rows()
    model = ElasticClustering(3, random_state=0, memory=2.0).fit(x).partial_fit(x[:5])
    later = pickle.loads(pickle.dumps(model)).relax(3.0)
    np.testing.assert_allclose(model.log_likelihood(x, elapsed=3.0), later.score_samples(x))


def test_irregular_times_and_other_kernels_reach_the_loop():
    x, _ = rows()
    model = ElasticClustering(3, random_state=0).fit(x)
    fast, far = model.track(x[:9]), np.arange(9) * 50.0
    np.testing.assert_allclose(model.track(x[:9], times=far), fast, atol=1e-9)
    timed = ElasticClustering(3, random_state=0, memory_in="time").fit(x)
    with pytest.warns(UserWarning, match="memory is 2, but time stamps are usually 50 apart"):
        slow = timed.track(x[:9], times=far)
    np.testing.assert_allclose(slow, model.predict_proba(x[:9]), atol=1e-6)
    assert np.abs(slow - fast).max() > 1e-3
    window = Windowed(function=Exponential(memory=2.0), frames=60)
    np.testing.assert_allclose(
        model.set_params(kernel=window).fit(x).track(x[:9]), fast, atol=1e-9
    )  # fmt: skip


def test_it_works_in_a_pipeline():
    x, labels = rows()
    clusters = make_pipeline(Normalizer(), ElasticClustering(3, random_state=0)).fit(np.abs(x))
    assert clusters.transform(np.abs(x)).shape == (300, 3)
    named = make_pipeline(FunctionTransformer(np.abs), ElasticClassifier(ElasticClustering(3, random_state=0)))
    assert named.fit(x, labels).score(x, labels) > 0.9


def test_a_classifier_follows_an_object_that_turns_away():
    x, labels = rows(clusters=2)
    clustering = ElasticClustering(2, kappa=80.0, pull=5.0, random_state=0)
    model = ElasticClassifier(clustering).fit(x, np.array(["a", "b"])[labels])
    a, b = (x[labels == k].mean(axis=0) for k in (0, 1))
    way = np.array([(1 - s) * a + s * b for s in np.linspace(0, 0.6, 15)])
    assert model.predict(way)[-1] == "b"
    assert (model.track_labels(way) == "a").all()
    np.testing.assert_allclose(model.track(way).sum(axis=1), 1)
    assert (model.partial_fit(way).predict(way[-1:]) == "a").all()
    assert model.reset().predict(way)[-1] == "b"


def test_a_classifier_names_clusters_by_soft_counts():
    x, labels = rows()
    model = ElasticClassifier(ElasticClustering(3, random_state=0)).fit(x, labels)
    posterior = model.clustering_.predict_proba(x)
    by_hand = np.array([[posterior[labels == c, k].sum() for c in range(3)] for k in range(3)])
    np.testing.assert_allclose(model.label_shares_, by_hand / by_hand.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(x), posterior @ model.label_shares_, rtol=1e-6)


def test_a_classifier_answers_novel_inputs_with_their_own_label():
    x, labels = rows()
    model = ElasticClassifier(ElasticClustering(3, novelty_threshold="auto", random_state=0), novel_label=9).fit(
        x, labels
    )
    assert (model.predict(-x) == 9).all()
    assert (model.track_labels(-x) == 9).all()
    assert (model.predict(x) == labels).mean() > 0.9


def test_late_labels_name_clusters_too():
    x, labels = rows()
    model = ElasticClassifier(ElasticClustering(3, random_state=0)).partial_fit(x, labels, classes=[0, 1, 2, 3])
    assert model.predict_proba(x).shape == (300, 4)
    model.partial_fit(x, np.full(300, 3)).reset()
    assert model.predict_proba(x)[:, 3].mean() == pytest.approx(0.5, abs=0.01)
    with pytest.raises(ValueError, match="y must hold only"):
        model.partial_fit(x[:1], [7])


def test_parameters_are_plain_and_printable():
    assert json.loads(json.dumps(ElasticClustering().get_params()))["memory"] == 2.0


@pytest.mark.parametrize("kernel", [None, Windowed(function=Exponential(memory=2.0), frames=9)])
def test_a_step_answers_as_track_does_and_moves_as_partial_fit_does(kernel):
    x, labels = rows()
    times = np.cumsum(np.random.default_rng(1).exponential(size=20))
    clusters = ElasticClustering(3, pull=2.0, kernel=kernel, random_state=0)
    for model, shown in ((clusters.fit(x), clusters), (ElasticClassifier(clusters).fit(x, labels), None)):
        wanted = model.track(x[:20], times)
        one = np.array([model.step(row, time) for row, time in zip(x[:20], times, strict=True)])
        np.testing.assert_allclose(one, wanted, rtol=1e-12)
        moved = (shown or model.clustering_).short_term_
        model.reset().partial_fit(x[:20], times=times)
        np.testing.assert_array_equal((shown or model.clustering_).short_term_, moved)
        assert not (shown or model.reset().clustering_).reset().short_term_.any()


def test_a_step_names_what_it_refuses_and_moves_nothing():
    x, labels = rows()
    for model in (ElasticClustering(3, random_state=0), ElasticClassifier(ElasticClustering(3, random_state=0))):
        with pytest.raises(NotFittedError):
            model.step(x[0])
        with pytest.raises(NotFittedError):
            model.reset()
        before = pickle.dumps(model.fit(x, labels))
        for wrong in (x[:2], x[0, :3], np.full(6, np.nan), "word"):
            with pytest.raises((TypeError, ValueError), match=r"^x must"):
                model.step(wrong)
        assert pickle.dumps(model) == before
        with pytest.raises(TypeError, match="elapsed"):
            model.relax()
