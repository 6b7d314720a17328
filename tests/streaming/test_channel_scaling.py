"""Raw channels: when they are scaled, and what that is worth."""

import numpy as np
import pytest

from springback.data.catalogue import folder_of
from springback.data.pretrained import shipped_digits
from springback.elastic import ElasticClassifier, ElasticClustering
from springback.streaming.channel_scaling import Channels, measure_channels, needs_scale
from springback_bench.stream_sets import hapt
from springback_bench.stream_sets.activities import labels_of, windows_of

GRAVITY = 9.80665


def phone(n=600, seed=0):
    """Acceleration under gravity and turning rates of four ways to hold a phone, in SI units."""
    rng = np.random.default_rng(seed)
    held = np.array(
        [[0, 0, 9.8, 0, 0, 0], [0.6, 0, 9.8, 0.3, 0, 0], [0, 0.8, 9.7, 0, 0.4, 0], [-0.5, -0.5, 9.8, 0, 0, 0.5]]
    )
    kinds = rng.integers(0, 4, n)
    return held[kinds] + rng.normal(0, [0.1, 0.1, 0.1, 0.05, 0.05, 0.05], (n, 6)), kinds


def test_accelerations_under_gravity_are_recognised_by_default():
    rows, kinds = phone()
    right = {
        scaling: ElasticClassifier(ElasticClustering(4, scaling=scaling, random_state=0))
        .fit(rows, kinds)
        .score(rows, kinds)
        for scaling in ("auto", "standard", None)
    }
    assert right["auto"] == right["standard"] > 0.97
    assert right[None] < 0.6


def test_recorded_activities_are_recognised_better_in_units_of_their_spread():
    home = folder_of(None)
    if not (home / "streams" / "hapt.safetensors").is_file():
        pytest.skip("`springback data streams hapt` has not fetched HAPT on this machine")
    sessions = [one for one in hapt.recordings(home, lambda _: None) if one.person <= 4]
    windows = np.concatenate([windows_of(one.signals)[::2] for one in sessions]).astype(float)
    kinds = np.concatenate([labels_of(one.activities)[::2] for one in sessions])
    upright = np.isin(kinds, [0, 1, 2, 4])  # walking, up and down stairs, standing
    windows, kinds = windows[upright], kinds[upright]
    windows[:, :3] *= GRAVITY
    rows = np.concatenate([windows.mean(axis=2), windows.std(axis=2)], axis=1)
    right = {
        scaling: ElasticClassifier(ElasticClustering(12, scaling=scaling, random_state=0))
        .fit(rows, kinds)
        .score(rows, kinds)
        for scaling in ("auto", None)
    }
    assert right["auto"] > right[None] + 0.1


def test_rows_that_are_directions_already_stay():
    rng = np.random.default_rng(0)
    images = shipped_digits().pixels.reshape(100, -1).astype(float)
    embeddings = rng.normal(size=(100, 64)) * np.exp(rng.normal(0, 1, 64)) + 3
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    for rows in (images, embeddings, rng.normal(size=(100, 5)), 1e-300 * images, np.zeros((3, 2)), np.ones((1, 2))):
        assert measure_channels(rows) is None
    assert measure_channels(images, None) is None
    assert measure_channels(images, "standard") is not None


def test_different_units_and_a_common_offset_are_noticed():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 6))
    assert not needs_scale(rows)
    assert needs_scale(rows * [1, 1, 1, 50, 50, 50])
    assert needs_scale(rows + np.array([0, 0, 20, 0, 0, 0]))
    assert needs_scale(0.01 * rows + np.array([0, 0, 20, 0, 0, 0]))  # rows of nearly the same length


def test_constant_channels_and_missing_rows_survive():
    rows, _ = phone(50)
    rows[:, 1] = 7.0
    rows[3] = 0
    scaled = measure_channels(rows, "standard").scaled(rows)
    assert np.isfinite(scaled).all()
    assert not scaled[3].any()
    assert np.allclose(scaled[4:, 1], 0, atol=1e-12)
    assert np.allclose(np.delete(scaled, 3, axis=0)[:, 0].std(), 1)


def test_a_missing_row_only_lets_time_pass_in_a_scaled_model_too():
    rows, kinds = phone(200)
    model = ElasticClassifier(ElasticClustering(4, random_state=0)).fit(rows, kinds)
    assert model.clustering_.channels_ is not None
    gap = np.insert(rows[:6], 3, 0, axis=0)
    assert np.allclose(np.delete(model.track(gap), 3, axis=0), model.track(rows[:6], [0, 1, 2, 4, 5, 6]))


def test_all_answers_of_a_scaled_model_agree(tmp_path):
    rows, _ = phone(200)
    model = ElasticClustering(4, random_state=0).fit(rows)
    by_hand = ElasticClustering(4, random_state=0, scaling=None).fit(model.channels_.scaled(rows))
    scaled = model.channels_.scaled(rows)
    assert np.array_equal(model.predict_proba(rows), by_hand.predict_proba(scaled))
    assert np.array_equal(model.transform(rows), by_hand.transform(scaled))
    assert np.array_equal(model.track(rows), by_hand.track(scaled))
    assert np.array_equal(model.labels_, by_hand.labels_)
    assert np.array_equal(model.step(rows[0]), by_hand.step(scaled[0]))
    assert np.array_equal(model.score_samples(rows), by_hand.score_samples(scaled))
    model.save(tmp_path / "model.safetensors")
    loaded = ElasticClustering.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.track(rows), model.track(rows))
    given = ElasticClustering(2, resting=rows[:2], scaling="standard").fit(rows)
    assert given.predict(rows[:2]).tolist() == [0, 1]


def test_bad_ways_to_scale_are_refused():
    with pytest.raises(ValueError, match="scaling must be"):
        ElasticClustering(2, scaling="yes").fit(phone(50)[0])
    with pytest.raises(ValueError, match="spread must be > 0"):
        Channels(np.zeros(2), np.zeros(2))
    with pytest.raises(ValueError, match="X must be small enough"):
        measure_channels(np.array([[1e308, 1.0], [-1e308, 2.0]]), "standard")
