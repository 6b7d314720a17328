"""The network, as drawn from a small one."""

import io

import numpy as np
import pytest

from springback.data import load_mnist
from springback_paper.figures.example_digit import spikes_to
from springback_paper.figures.fig_3b import draw, run
from tests.paper.figures.small_circuit import small_model, small_video


@pytest.fixture(scope="module")
def result():
    return run(small_model(), load_mnist("train")[:5], small_video(), seed=1)


def test_the_neurons_are_those_that_fire_most_and_one_that_fires_least(result):
    counts = spikes_to(small_model(), small_video().frames[:1], seed=1)[0]
    shown = [int((result.spike_neuron == neuron).sum()) for neuron in result.neurons]
    assert shown == counts[result.neurons].tolist()
    assert shown[:-1] == np.sort(counts)[::-1][: len(shown) - 1].tolist()
    assert shown[-1] == counts.min()
    assert result.output_spikes == counts.sum()


def test_synapses_and_maps_are_those_of_the_network(result):
    resting = small_model().weights.resting
    for place, (row, column) in enumerate(result.pixels):
        np.testing.assert_array_equal(result.weights[place], resting[28 * row + column, result.neurons])
        assert result.frame[row, column] >= 128
    np.testing.assert_array_equal(result.maps[0].ravel(), resting[:, result.neurons[0]])
    np.testing.assert_array_equal(result.classes, small_model().neuron_labels[result.neurons])


def test_the_sizes_that_are_written_are_those_of_the_network(result):
    figure = draw(result)
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"784 inputs X", "40 neurons Q", "350 ms"} <= words
    figure.savefig(io.BytesIO(), format="png")
