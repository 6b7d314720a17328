"""The figure of a neuron that expands."""

import io

import numpy as np

from springback.experiments import expansion
from springback.figures.expansion import draw_expansion
from tests.experiments.small_circuit import PRESET, small_model, small_video


def test_frames_spikes_and_the_three_maps_are_drawn():
    result = expansion.run(small_model(), PRESET, small_video())
    figure = draw_expansion(result)
    pictures = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
    n = len(result.frames)
    np.testing.assert_array_equal(pictures[:n], result.frames)
    np.testing.assert_array_equal(pictures[n : n + 3], [result.resting, result.efficacy, result.relaxed])
    words = [text.get_text() for text in figure.axes[n - 1].texts]
    assert words == [str(result.spikes[-1]), str(result.static_spikes[-1])]
    figure.savefig(io.BytesIO(), format="png")
