"""The figure of a neuron's path."""

import io

import numpy as np

from springback.experiments import principal_path
from springback.figures.principal_path import draw_principal_path
from tests.experiments.small_circuit import PRESET, small_model, small_video


def test_the_paths_of_input_and_neuron_are_drawn_whole():
    result = principal_path.run(small_model(), PRESET, small_video(), every_ms=5.0)
    figure = draw_principal_path(result)
    inputs, pulled, after, snapshots, resting = (line.get_xydata() for line in figure.axes[0].lines)
    np.testing.assert_array_equal(inputs, result.input_path)
    np.testing.assert_array_equal(np.concatenate([pulled, after[1:]]), result.neuron_path)
    assert len(snapshots) == result.n_digit + result.n_noise
    np.testing.assert_array_equal(resting[0], result.resting)
    figure.savefig(io.BytesIO(), format="png")
