"""A small network learns digits, and follows their video."""

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import train_model
from springback.spiking.presets import springback_2026

PRESET = springback_2026(n_neurons=30)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


@pytest.fixture(scope="module")
def model(digits):
    said = []
    trained = train_model(digits[:3000], PRESET, seed=1, on_progress=lambda done, right: said.append((done, right)))
    assert sum(done for done, _ in said) == 12_000  # shown three times to learn, once to label
    assert np.isnan(said[0][1])
    assert said[2][1] > 0.3
    return trained


def test_a_small_network_learns_digits_without_labels(model, digits):
    score = recognise_images(model, digits[50_000:50_500])
    assert score.accuracy > 0.5
    assert score.confusion.sum() == 500
    assert set(model.neuron_labels) <= set(range(-1, 10))


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_give_the_same_result_for_any_number_of_workers(model, digits, shards):
    video = make_omnist(digits[51_000:51_030], seed=0)
    scores = [follow_video(model, video, shards=shards, workers=workers) for workers in (1, 2)]
    np.testing.assert_array_equal(scores[0].predicted, scores[1].predicted)
    assert list(scores[0].by_rows_hidden) == ["0", "3", "6", "9", "12", "15", "18", "19", "noise"]


def test_a_shard_begins_where_a_digit_begins(model, digits):
    video = make_omnist(digits[51_000:51_010], seed=0)
    whole = follow_video(model, video, shards=10)
    first = np.argmax(video.labels == 10) + 4
    alone = follow_video(model, video.stretch(0, int(first)))
    np.testing.assert_array_equal(whole.predicted[:first], alone.predicted)
