"""The three readouts of a network agree with the functions that they are made of."""

import numpy as np
import pytest

from springback.data import load_mnist
from springback.spiking.evaluation import follow_video, recognise_images
from springback.spiking.fitting import label_model
from springback.spiking.inference import LABELLING, respond
from springback.streaming import readout
from springback_paper.figures.three_readouts import READOUTS, read_network
from tests.paper.figures.small_circuit import small_model, small_video


@pytest.fixture(scope="module")
def labelling():
    return load_mnist("train")[:1200]


@pytest.fixture(scope="module")
def network(labelling):
    return read_network(small_model(), labelling)


def test_hard_labels_are_those_of_the_library(network, labelling):
    model, tested = label_model(small_model(), labelling), load_mnist("train")[4000:4100]
    np.testing.assert_array_equal(network.model.neuron_labels, model.neuron_labels)
    assert network.recognise(tested, seed=3)["hard labels"] == recognise_images(model, tested, seed=3).accuracy
    video = small_video().stretch(0, 1100)  # more frames than are shown at once
    for adapts in (False, True):
        expected = follow_video(model, video, adapts=adapts, seed=3).predicted
        found = network.follow(video, adapts=adapts, seed=3)
        assert tuple(found) == READOUTS
        np.testing.assert_array_equal(found["hard labels"].predicted, expected)


def test_profiles_are_mean_responses_to_each_class(network, labelling):
    preset = small_model().preset
    shown = {"circuit": preset.circuit, "presentation": preset.testing}
    counts = respond(small_model().weights, labelling.pixels, purpose=LABELLING, seed=small_model().seed, **shown)
    for label in (0, 7):
        np.testing.assert_allclose(network.mean_counts[label], counts[labelling.labels == label].mean(axis=0))
    found = network.answers(counts[:50])
    np.testing.assert_array_equal(found["votes"], readout.vote(counts[:50], network.mean_counts))
    np.testing.assert_array_equal(found["likeliest"], readout.likeliest(counts[:50], network.mean_counts))
