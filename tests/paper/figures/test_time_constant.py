"""The time constant on a few digits."""

from dataclasses import replace

import numpy as np
import pytest

from springback.data import load_mnist
from springback.elastic import ElasticClassifier, ElasticClustering
from springback.spiking.evaluation import follow_video
from springback_paper.figures.time_constant import (
    TimeConstant,
    draw_video,
    elastic_model,
    elastic_point,
    fit_elastic,
    run,
    spiking_point,
)
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.tasks.elastic import follow
from tests.paper.figures.small_circuit import PRESET, small_model, small_video

ELASTIC = ElasticOmnist(n_clusters=60, iterations=5)


@pytest.fixture(scope="module")
def still():
    return load_mnist("train")[:3000]


@pytest.fixture(scope="module")
def fitted(still):
    return fit_elastic(ELASTIC, still, n_practice=200, seed=0)


@pytest.fixture(scope="module")
def video():
    return draw_video(load_mnist("train")[5000:6000], 60, seed=0)


@pytest.mark.parametrize("memory", [0.3, 3.0])
def test_elastic_labels_are_those_of_the_classifier(fitted, still, video, memory):
    clustering = ElasticClustering(
        60, resting=fitted.resting, kappa=ELASTIC.kappa, pull=ELASTIC.pull, memory=memory, beta=ELASTIC.beta
    )  # fmt: skip
    classifier = ElasticClassifier(clustering).fit(brightness(still.pixels, 0.5), still.labels)
    label, similarity = follow(elastic_model(fitted, memory), fitted.label_shares, video, 0.5)
    expected = classifier.track_labels(brightness(video.frames, 0.5))
    assert np.mean(label == expected) > 0.999
    right = np.where(similarity < fitted.threshold, 10, expected) == video.labels
    assert elastic_point(fitted, video, memory)["all"] == pytest.approx(right.mean(), abs=0.002)


def test_too_short_a_memory_loses_what_is_hidden_and_none_of_the_noise(fitted, video):
    short, usual = (elastic_point(fitted, video, memory) for memory in (0.1, 1.1))
    assert short["19"] < usual["19"] - 0.2
    assert short["noise"] > 0.95


def test_a_spiking_point_is_the_video_streamed_with_that_time_constant():
    video = small_video().stretch(0, 60)
    found = spiking_point(small_model(), video, 350.0, seed=5)
    short_term = replace(PRESET.short_term, memory_ms=350.0)
    predicted = follow_video(small_model().streaming_as(short_term=short_term), video, seed=5).predicted
    assert found["all"] == pytest.approx(np.mean(predicted == video.labels))
    hidden = video.rows_hidden == 19
    assert found["19"] == pytest.approx(np.mean(predicted[hidden] == video.labels[hidden]))


def test_a_longer_time_constant_serves_hidden_digits_and_hurts_noise():
    video = small_video().stretch(0, 800)
    short, usual, long = (spiking_point(small_model(), video, tau, seed=0) for tau in (87.5, 700.0, 5600.0))
    assert short["19"] < usual["19"] - 0.1
    assert long["noise"] < usual["noise"] - 0.2
    assert short["noise"] >= usual["noise"]


def test_a_run_has_a_row_for_each_time_constant_in_frames(still):
    params = TimeConstant(
        memory_ms=(175.0, 700.0), memory_frames=(0.5, 1.1, 4.0), n_digits=5, elastic=ELASTIC, n_practice=50
    )
    digits = load_mnist("train")[5000:5100]
    result = run(params, small_model(), still, digits, seeds=(0, 1))
    assert result.spiking_frames.tolist() == [0.5, 2.0]
    assert (result.spiking_preset_frames, result.elastic_preset_frames) == (PRESET.short_term.memory_ms / 350, 1.1)
    assert result.groups == ("all", "0", "3", "6", "9", "12", "15", "18", "19", "noise")
    assert result.spiking_mean.shape == (2, 10)
    assert result.elastic_std.shape == (3, 10)
    videos = [draw_video(digits, 5, seed) for seed in (0, 1)]
    fitted = fit_elastic(ELASTIC, still, n_practice=50, seed=0)
    by_hand = np.mean([elastic_point(fitted, video, 4.0)["all"] for video in videos])
    assert result.elastic_mean[2, 0] == pytest.approx(by_hand)


def test_still_images_must_not_be_in_the_video(still):
    with pytest.raises(ValueError, match="the test images must not be among those"):
        run(TimeConstant(), small_model(), still, still[:300])
