"""The spiking experiments on a few digits."""

import numpy as np
import pytest

from springback.datasets import load_mnist, make_omnist
from springback.paper.spiking_omnist import recognise_images, stream_video, train_model
from springback.paper.tuning import spiking as tune_spiking
from springback.records import Images
from springback.spiking.presets import springback_2026

PRESET = springback_2026(n_neurons=30)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


@pytest.fixture(scope="module")
def model(digits):
    said = []
    trained = train_model(digits[:3000], PRESET, seed=1, on_progress=lambda done, right: said.append((done, right)))
    assert sum(done for done, _ in said) == 6000  # shown once to learn, once to label
    assert np.isnan(said[0][1])
    assert said[2][1] > 30
    return trained


def test_a_small_network_learns_digits_without_labels(model, digits):
    score = recognise_images(model, digits[50_000:50_500], PRESET.testing)
    assert score.accuracy > 50
    assert score.confusion.sum() == 500
    assert set(model.neuron_labels) <= set(range(-1, 10))


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_give_the_same_result_for_any_number_of_workers(model, digits, shards):
    video = make_omnist(digits[51_000:51_030], seed=0)
    scores = [
        stream_video(model, video, PRESET.streaming, PRESET.short_term, shards=shards, workers=workers)
        for workers in (1, 2)
    ]
    np.testing.assert_array_equal(scores[0].predicted, scores[1].predicted)
    assert list(scores[0].by_rows_hidden) == ["0", "3", "6", "9", "12", "15", "18", "19", "noise"]


def test_a_shard_begins_where_a_digit_begins(model, digits):
    video = make_omnist(digits[51_000:51_010], seed=0)
    whole = stream_video(model, video, PRESET.streaming, PRESET.short_term, shards=10)
    first = np.argmax(video.labels == 10) + 4
    alone = stream_video(model, video.stretch(0, int(first)), PRESET.streaming, PRESET.short_term)
    np.testing.assert_array_equal(whole.predicted[:first], alone.predicted)


def test_points_of_the_search_are_parameters():
    middle = {name: (span.low + span.high) / 2 for name, span in tune_spiking.TRAINING_SPACE.items()}
    stdp, shown = tune_spiking.training_of(middle)
    assert (stdp.rate_post, shown.intensity) == (middle["rate_post"], middle["intensity"])
    middle = {name: (span.low + span.high) / 2 for name, span in tune_spiking.STREAMING_SPACE.items()}
    short_term, shown = tune_spiking.streaming_of(middle)
    assert (short_term.pull, shown.intensity, shown.rest_ms) == (middle["pull"], middle["intensity"], 0.0)


def test_the_search_for_streaming_uses_the_video_of_training_digits(model, digits):
    trials = list(tune_spiking.tune_streaming(model, digits, seed=0, n_trials=2, n_digits=3))
    assert len(trials) == 2
    assert all(0 <= trial.score <= 100 for trial in trials)


@pytest.mark.parametrize("labels", [np.array([3, 25]), np.array(["a", "b"])], ids=["26 classes", "strings"])
def test_labels_that_a_model_file_cannot_name_are_refused_before_training(labels):
    said = []
    with pytest.raises(ValueError, match="labels must be"):
        train_model(Images(np.zeros((2, 28, 28), np.uint8), labels), PRESET, on_progress=lambda *now: said.append(now))
    assert not said
