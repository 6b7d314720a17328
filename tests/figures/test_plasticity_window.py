"""The figure of the plasticity window."""

import io

import numpy as np

from springback.experiments import plasticity_window
from springback.figures.plasticity_window import draw_plasticity_window
from springback.spiking.params import ShortTermStdp


def test_dots_are_measured_and_lines_expected():
    result = plasticity_window.run(ShortTermStdp())
    figure = draw_plasticity_window(result)
    window, relaxation = figure.axes
    dots = [line.get_ydata() for line in window.lines if line.get_marker() == "."]
    np.testing.assert_array_equal(dots, result.change[::-1])
    curve = max((line.get_ydata() for line in relaxation.lines), key=len)
    np.testing.assert_array_equal(curve, result.expected_efficacy[result.time_ms >= 0])
    assert "(ms)" in window.get_xlabel()
    assert "(ms)" in relaxation.get_xlabel()
    figure.savefig(io.BytesIO(), format="png")
