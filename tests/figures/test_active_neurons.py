"""The figure of the most active neurons."""

import io

import numpy as np
import pytest

from springback.experiments import active_neurons
from springback.figures.active_neurons import draw_active_neurons
from tests.experiments.small_circuit import PRESET, small_model, small_video


@pytest.fixture(scope="module")
def result():
    return active_neurons.run(small_model(), PRESET, small_video())


def mosaics(figure):
    return [axes.images[0].get_array() for axes in figure.axes if axes.images and axes.images[0].get_array().ndim == 3]


def test_every_telling_frame_has_a_column_with_its_answers(result):
    figure = draw_active_neurons(result)
    n = len(result.telling)
    assert len(mosaics(figure)) == 2 * n
    words = [axes.get_xlabel() for axes in figure.axes]
    right = ["noise" if one == 10 else str(one) for one in result.adapting_answers[list(result.telling)]]
    assert words[2 * n : 3 * n] == right
    figure.savefig(io.BytesIO(), format="png")


def test_a_silent_neuron_leaves_its_place_empty(result):
    figure = draw_active_neurons(result)
    column = result.telling.index(int(np.flatnonzero(result.labels == 10)[0]))
    noise = mosaics(figure)[len(result.telling) + column]
    assert (result.adapting_spikes[result.telling[column]] == 0).all()
    assert (np.asarray(noise)[:28, :28] == 0.94).all()


def test_maps_can_show_efficacies_in_place_of_weights(result):
    weights, efficacies = (mosaics(draw_active_neurons(result, of_efficacy=flag)) for flag in (False, True))
    n = len(result.telling)
    for before, after in zip(weights[:n], efficacies[:n], strict=True):
        np.testing.assert_array_equal(before, after)
    assert not np.array_equal(weights[n + 3], efficacies[n + 3])
