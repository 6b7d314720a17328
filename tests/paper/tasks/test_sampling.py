"""The sampling networks on OMNIST, on toy digits: nothing of the test images leaks, and plasticity helps."""

from dataclasses import replace

import numpy as np
import pytest

from springback.streaming.readout import UNLABELLED
from springback.streaming.records import NOISE_LABEL, Images
from springback_paper.sampling import OnlineEm, sampling_weights
from springback_paper.tasks.sampling import (
    SamplingOmnist,
    brightness,
    classes_of,
    evaluate,
    name_neurons,
    score_sampling,
    train_network,
)
from springback_paper.tasks.sampling_networks import all_networks


def toy_digits(n, seed):
    """Ten blotchy shapes with some noise, bright mostly in the lower half so that occlusion hides a part only."""
    shapes = (np.random.default_rng(1).random((10, 28, 28)) < 0.15) * 200
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, n)
    noisy = shapes[labels] * (rng.random((n, 28, 28)) < 0.9)
    return Images(noisy.astype(np.uint8), labels)


FEW = SamplingOmnist(
    learning=OnlineEm(n_neurons=30), networks={"exponential": all_networks()["exponential"]}, practice_images=30
)


@pytest.fixture(scope="module")
def result():
    return evaluate(FEW, toy_digits(600, 2), toy_digits(40, 3), seed=4)["exponential"]


def test_digits_are_recognised_with_and_without_occlusion(result):
    assert result.still_accuracy > 0.95
    assert result.short_term.accuracy > 0.85
    assert result.short_term.by_rows["0"] > 0.9


def test_short_term_plasticity_does_not_hurt(result):
    assert result.short_term.accuracy >= result.static.accuracy - 0.02


def test_noise_is_told_from_digits(result):
    assert result.short_term.by_rows["noise"] > 0.8
    assert result.short_term.spikes_min > 0


def test_static_and_adaptive_networks_are_scored_by_what_is_hidden_too():
    params = SamplingOmnist(learning=OnlineEm(n_neurons=10), practice_images=10)
    train, test = toy_digits(100, 2), toy_digits(5, 3)
    trained = train_network("spiking relu", params, train, test, seed=4)
    whole = evaluate(replace(params, networks={"spiking relu": all_networks()["spiking relu"]}), train, test, seed=4)
    for adapts, model in ((True, "sampling_spiking_relu"), (False, "sampling_spiking_relu_static")):
        scores = score_sampling("spiking relu", adapts, params, train, test, trained, seed=4)
        assert {model} == set(scores.by_rows_hidden) == set(scores.by_ink_hidden) == set(scores.mnist_test)
        one = whole["spiking relu"].short_term if adapts else whole["spiking relu"].static
        assert scores.omnist_test == {model: one.accuracy}


def test_the_same_seed_gives_the_same_result(result):
    assert evaluate(FEW, toy_digits(600, 2), toy_digits(40, 3), seed=4)["exponential"] == result


def test_a_neuron_that_never_fires_has_no_name():
    resting = np.zeros((784, 2))
    resting[300, 0], resting[0, 1] = 1, 1
    image = np.zeros((3, 28, 28), np.uint8)
    image.reshape(3, 784)[:, 300] = 255
    names = name_neurons(
        sampling_weights(resting), Images(image, np.full(3, 7)), all_networks()["exponential"].circuit, 0.5, seed=0
    )
    assert names.tolist() == [7, UNLABELLED]


def test_the_class_is_the_one_with_most_spikes_in_sum():
    counts = np.array([[3, 2, 2, 9], [1, 0, 0, 0], [0, 0, 0, 0]], np.int32)
    names = np.array([4, 5, 5, UNLABELLED])
    assert classes_of(counts, names).tolist() == [5, 4, NOISE_LABEL]
    assert classes_of(counts, names, spikes_min=2).tolist() == [5, NOISE_LABEL, NOISE_LABEL]


def test_spikes_of_nameless_neurons_alone_name_no_class():
    assert classes_of(np.array([[0, 5]], np.int32), np.array([3, UNLABELLED])).tolist() == [NOISE_LABEL]


def test_brightness_keeps_black_and_white():
    assert brightness(np.array([[[0, 255]]], np.uint8), 3.0).tolist() == [[0, 255]]


def test_too_few_training_images_are_refused():
    with pytest.raises(ValueError, match="hold more than the practice images; got 30"):
        evaluate(FEW, toy_digits(30, 5), toy_digits(5, 6), seed=0)
    with pytest.raises(ValueError, match="practice_images must be >= 1"):
        replace(FEW, practice_images=0)
