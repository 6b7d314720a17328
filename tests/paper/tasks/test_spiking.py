"""The spiking network as tasks: the same as without, in one part or in many."""

import numpy as np
import pytest

from springback.data import make_omnist
from springback.spiking.classifier import SpikingClassifier
from springback.spiking.evaluation import follow_video, recognise_images, responses_to
from springback.spiking.fitting import train_model
from springback.spiking.presets import springback_2026
from springback.streaming import readout
from springback.streaming.metrics import accuracy
from springback_paper.inputs.digits import digits, video_of_tests
from springback_paper.runner.result_file import load_result, save_result
from springback_paper.tasks.spiking import answer_shard, measure_profiles, score_still, score_video, train_network

PRESET = springback_2026(n_neurons=100)
STILL = {"models": ("spiking_st_stdp",), "train": digits("train", 400), "test": digits("test", 400)}


@pytest.fixture(scope="module")
def network():
    return train_network(PRESET, digits("train", 400), 3)


def test_training_as_a_task_writes_what_plain_training_does(network):
    plain = train_model(digits("train", 400), PRESET, seed=3, data="mnist train")
    np.testing.assert_array_equal(network.weights.resting, plain.weights.resting)
    np.testing.assert_array_equal(network.weights.theta, plain.weights.theta)
    np.testing.assert_array_equal(network.neuron_labels, plain.neuron_labels)


def test_a_network_from_its_file_runs_as_before(network, tmp_path):
    save_result(network, tmp_path / "one", about={})
    back = load_result(tmp_path / "one", type(network))
    assert score_still(back, **STILL, seed=3) == score_still(network, **STILL, seed=3)


def test_scores_are_those_of_plain_calls(network):
    train, test = digits("train", 400), digits("test", 400)
    video = make_omnist(test, seed=3)
    still = score_still(network, **STILL, seed=3)
    assert still.mnist_test["spiking_st_stdp"] == recognise_images(network, test, seed=3).accuracy
    part = answer_shard(network, video, 3, way="st_stdp")
    plain = follow_video(network, video, seed=3)
    np.testing.assert_array_equal(part.predicted, plain.predicted)
    whole = score_video(("spiking_st_stdp",), train, test, 3, part=part)
    assert whole.omnist_test == {"spiking_st_stdp": plain.accuracy}
    assert whole.by_rows_hidden == {"spiking_st_stdp": plain.by_rows_hidden}
    assert whole.by_ink_hidden == {"spiking_st_stdp": plain.by_ink_hidden}
    assert whole.n_frames == len(video)


def test_static_networks_are_shown_the_same_video_as_it_is_or_at_their_own_best(network):
    video = make_omnist(digits("test", 40), seed=3)
    same = follow_video(network, video, adapts=False, seed=3)
    best = follow_video(network.streaming_as(PRESET.static), video, adapts=False, seed=3)
    np.testing.assert_array_equal(answer_shard(network, video, 3, way="static").predicted, same.predicted)
    np.testing.assert_array_equal(answer_shard(network, video, 3, way="static_best").predicted, best.predicted)
    assert (same.predicted != best.predicted).any()


def test_a_network_is_read_by_labels_and_by_profiles_from_the_same_spikes(network):
    train, test = digits("train", 400), digits("test", 400)
    profiles, models = measure_profiles(network, train), ("spiking_st_stdp", "spiking_st_stdp_likeliest")
    labels = readout.label_neurons(profiles.mean_counts, np.ones(10, np.int64))
    np.testing.assert_array_equal(labels, network.neuron_labels)

    still = score_still(network, models, train, test, 3, profiles).mnist_test
    counts = responses_to(network, test, seed=3)
    likeliest = readout.likeliest(counts, profiles.mean_counts)
    assert still == {
        models[0]: recognise_images(network, test, seed=3).accuracy,
        models[1]: accuracy(likeliest, test.labels),
    }
    assert still[models[0]] != still[models[1]]

    video = make_omnist(test[:40], seed=3)
    part = answer_shard(network, video, 3, way="st_stdp", profiles=profiles)
    np.testing.assert_array_equal(part.predicted, answer_shard(network, video, 3, way="st_stdp").predicted)
    spikes = SpikingClassifier.of(network).track_counts(video.frames)
    np.testing.assert_array_equal(part.likeliest, readout.likeliest(spikes, profiles.mean_counts))
    found = score_video(models, train, test[:40], 3, part=part).omnist_test
    assert found == {
        models[0]: accuracy(part.predicted, video.labels),
        models[1]: accuracy(part.likeliest, video.labels),
    }


def test_a_row_that_is_read_by_profiles_is_refused_without_them(network):
    models, test = ("spiking_st_stdp_likeliest",), digits("test", 40)
    with pytest.raises(ValueError, match="profiles must be given, because spiking_st_stdp_likeliest is read by them"):
        score_still(network, models, test, test, 3)
    part = answer_shard(network, make_omnist(test, seed=3), 3, way="st_stdp")
    with pytest.raises(ValueError, match="parts must hold answers by profiles"):
        score_video(models, test, test, 3, part=part)


@pytest.mark.parametrize("n_shards", [1, 2, 5, 8, 1000])
def test_parts_cover_the_video_once_and_begin_with_a_digit(n_shards):
    video = video_of_tests(40, seed=1)
    bounds = video.shard_bounds(n_shards)
    assert len(bounds) == n_shards
    assert np.concatenate([np.arange(start, stop) for start, stop in bounds]).tolist() == list(range(len(video)))
    for start, stop in bounds:
        if start < stop and start > 0:
            assert video.rows_hidden[start] == 0
            assert video.labels[start - 1] == readout.NOISE_LABEL


def test_answers_of_parts_are_put_together_in_order_whatever_their_names(network):
    video = video_of_tests(10, seed=0)
    parts = {
        f"part_{9 - shard}": answer_shard(network, video, 0, way="st_stdp", shard=shard, n_shards=3)
        for shard in range(3)
    }
    found = score_video(("spiking_st_stdp",), digits("train", 10), digits("test", 10), 0, **parts)
    joined = np.concatenate([parts[f"part_{number}"].predicted for number in (9, 8, 7)])
    assert found.omnist_test["spiking_st_stdp"] == pytest.approx(np.mean(joined == video.labels))
