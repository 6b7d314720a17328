"""Any classifier follows a stream by its class scores."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import springback
from springback import ElasticLinearClassifier, Observer
from springback.check import FrameError
from springback.heads import KeyedStreams, Springs

KINDS = np.array(["up", "down", "left"])


def blobs(seed=3, n=90):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 3, n)
    rows = np.concatenate([4 * np.eye(3)[kinds] + rng.normal(size=(n, 3)), rng.normal(size=(n, 2))], axis=1)
    return rows, KINDS[kinds]


def runs(seed=4):
    """Twelve objects in turn, ten frames each, so noisy that single frames are often wrong."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(rng.integers(0, 3, 12), 10)
    looks = np.repeat(2 * rng.normal(size=(12, 2)), 10, axis=0)
    rows = np.concatenate([2 * np.eye(3)[kinds], looks], axis=1) + rng.normal(size=(120, 5)) * 0.8
    return rows, KINDS[kinds]


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(20, random_state=0).fit(*blobs())


def test_a_forest_at_rest_answers_as_it_does_alone_and_follows_better(forest):
    rows, kinds = runs()
    model = springback.elasticize(forest, Observer(memory=5), rows=blobs()[0])
    assert (model.predict(rows) == forest.predict(rows)).all()
    alone, followed = np.mean(forest.predict(rows) == kinds), np.mean(model.track_labels(rows) == kinds)
    assert followed > alone + 0.03
    assert model.compares_by_ == "the 5 features that the classifier receives"


def test_a_pipeline_that_ends_in_a_forest_hands_it_what_the_steps_make():
    rows, kinds = blobs()
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)).fit(100 * rows, kinds)
    model = springback.elasticize(pipeline)
    assert (model.predict(100 * rows) == pipeline.predict(100 * rows)).all()


def test_logits_beside_features_hardly_move_the_direction_that_frames_are_compared_by(forest):
    rows, _ = blobs()
    model = springback.elasticize(forest, rows=rows)
    features = model._features(rows)
    without = features.copy()
    without[:, :3] = 0
    cosines = (features * without).sum(1) / np.linalg.norm(features, axis=1) / np.linalg.norm(without, axis=1)
    assert cosines.min() > 0.999


def test_scores_need_not_be_normalised_and_may_be_zero_or_one():
    model = ElasticLinearClassifier.of_scores(KINDS, Springs(pull=1.0))
    scores = np.array([[1.0, 0.0, 0.0], [0.2, 0.5, 0.3]])
    assert np.allclose(model.predict_proba(scores), model.predict_proba(1e6 * scores), atol=1e-6)
    assert np.allclose(model.predict_proba(scores), scores, atol=0.002)
    assert np.isfinite(model.track(np.eye(3)[[0, 0, 1, 1]])).all()


@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [0.5, -0.1, 0.6]])
def test_scores_that_say_nothing_are_refused_in_one_sentence(row):
    model = ElasticLinearClassifier.of_scores(KINDS)
    with pytest.raises(FrameError, match="the scores of row 1 must be at least 0") as error:
        model.track([[1.0, 0.0, 0.0], row])
    assert "\n" not in str(error.value)


def test_a_model_of_scores_is_saved_with_its_classes_in_their_order(tmp_path):
    model = ElasticLinearClassifier.of_scores(KINDS, Observer(memory=4), n_features=2)
    rows = np.random.default_rng(5).random((6, 5))
    model.track_response(rows, in_place=True)
    model.save(tmp_path / "scores.safetensors")
    again = springback.load_model(tmp_path / "scores.safetensors")
    assert again.classes_.tolist() == KINDS.tolist()
    assert (again.track(rows) == model.track(rows)).all()


def test_a_forest_says_that_only_its_scores_can_be_saved(forest, tmp_path):
    with pytest.raises(TypeError, match="RandomForestClassifier cannot be saved without pickle"):
        springback.elasticize(forest).save(tmp_path / "forest.safetensors")


def test_settings_for_scores_are_chosen_like_any_others():
    scores = np.repeat(np.eye(3), 8, axis=0) + np.random.default_rng(6).random((24, 3))
    model = ElasticLinearClassifier.of_scores(KINDS).tune([scores] * 3, [np.repeat(KINDS, 8)] * 3, n_trials=8)
    assert model.found_.score >= model.found_.score_at_rest


def test_many_streams_of_scores_share_a_model():
    streams = KeyedStreams(ElasticLinearClassifier.of_scores(KINDS), limit=2)
    rows = np.random.default_rng(7).random((4, 3))
    mixed = streams.follow_mixed([1, 2, 1, 3], rows).posterior
    alone = ElasticLinearClassifier.of_scores(KINDS).track(rows[[0, 2]])
    assert np.allclose(mixed[[0, 2]], alone, atol=1e-6)
    assert list(streams) == [1, 3] or list(streams) == [2, 3]
