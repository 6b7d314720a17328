"""Saved estimators as followers: the answers are those of `track`."""

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.preprocessing import StandardScaler

from springback.elastic import ElasticClassifier, ElasticClustering
from springback.heads import ElasticLinearClassifier
from springback.heads.stream_pipeline import StreamPipeline
from springback.live.follower import Follower
from springback.live.tuning.classifier import with_settings


def tilted(n=120):
    """Accelerations of a phone that is tilted in one of four ways, m/s^2."""
    rng = np.random.default_rng(0)
    ways = rng.integers(0, 4, n)
    tilt = np.array([[0.8, 0.0, 9.8], [-0.8, 0.0, 9.8], [0.0, 0.8, 9.8], [0.0, -0.8, 9.8]])
    return tilt[ways] + rng.normal(0, 0.1, (n, 3)), np.array(["right", "left", "up", "down"])[ways]


def test_a_linear_classifier_is_followed_as_it_tracks():
    rows, ways = tilted()
    model = ElasticLinearClassifier(RidgeClassifier()).fit(rows, ways)
    tracked, at_rest = model.track(rows), model.predict(rows)
    follower = Follower(model, "phone")
    assert follower.model.memory_ == model.settings_.memory
    answered = [follower.answer(part, None) for part in np.array_split(rows, 5)]
    assert np.allclose(np.concatenate([one.posterior for one in answered]), tracked, atol=1e-6)
    static = np.concatenate([one.frozen for one in answered]).argmax(axis=1)
    assert np.array_equal(model.classes_[static], at_rest)


def test_a_pipeline_is_followed_as_its_last_step_is():
    rows, ways = tilted()
    clustering = ElasticClustering(4, memory=5.0, novelty_threshold=0.5, random_state=0)
    steps = [("scale", StandardScaler()), ("model", ElasticClassifier(clustering, novel_label="new"))]
    model = StreamPipeline(steps).fit(rows, ways)
    strange = np.concatenate([rows[:20], [[0.0, 0.0, 30.0]]])
    tracked = model.track_labels(strange)
    assert tracked[-1] == "new"
    follower = Follower(model, "phone")
    assert follower.model.memory_ == 5.0
    assert follower.model.labels_of(follower.answer(strange, None)).tolist() == tracked.tolist()


def test_other_settings_keep_the_scale_of_raw_channels():
    rows, ways = tilted()
    model = ElasticClassifier(ElasticClustering(4, random_state=0)).fit(rows, ways)
    assert model.clustering_.channels_ is not None
    assert with_settings(model, pull=0.0, memory=2.0).score(rows, ways) == model.score(rows, ways) > 0.9
