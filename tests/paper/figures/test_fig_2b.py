"""The window of short-term STDP as the simulator shows it, against its closed form."""

import io

import numpy as np
import pytest

from springback.spiking.params import ShortTermStdp
from springback.spiking.presets import moraitis_2020, springback_2026
from springback_paper.figures import fig_2b as plasticity_window
from springback_paper.figures.fig_2b import draw as draw_plasticity_window


@pytest.mark.parametrize("preset", [moraitis_2020, springback_2026])
def test_the_simulator_shows_the_closed_form(preset):
    rule = preset().short_term
    window = plasticity_window.run(rule, weights=(0.25, 0.6, 1.0))
    for weight, change in zip(window.weights, window.change, strict=True):
        gain = rule.pull * max(0.0, rule.weight_dependence + (1 - rule.weight_dependence) * weight)
        wanted = [gain * np.exp(-lag / rule.tau_trace_ms) if lag >= 0 else 0.0 for lag in window.lag_ms]
        np.testing.assert_allclose(change, wanted, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(window.expected_change, window.change, rtol=1e-5, atol=1e-9)


def test_the_order_of_the_spikes_decides_the_sign_of_the_lag():
    window = plasticity_window.run(ShortTermStdp())
    assert (window.change[:, window.lag_ms < 0] == 0).all()
    assert (np.diff(window.change[1, window.lag_ms >= 0]) < 0).all()


def test_a_stronger_synapse_is_pulled_more():
    window = plasticity_window.run(ShortTermStdp(weight_dependence=0.2), weights=(0.0, 0.5, 1.0))
    np.testing.assert_allclose(window.change[:, window.lag_ms == 0].ravel() / 0.7, [0.2, 0.6, 1.0], rtol=1e-5)


def test_the_synapse_springs_back_to_its_weight_with_its_time_constant():
    rule = ShortTermStdp(pull=0.5, memory_ms=120.0, tau_trace_ms=10.0)
    window = plasticity_window.run(rule, pair_ms=4.0)
    after = window.time_ms >= 0
    wanted = 1.0 + 0.5 * np.exp(-0.4) * np.exp(-window.time_ms[after] / 120.0)
    np.testing.assert_allclose(window.efficacy[after], wanted, rtol=1e-5)
    assert (window.efficacy[~after] == 1.0).all()
    np.testing.assert_allclose(window.expected_efficacy, window.efficacy, rtol=1e-5)


def test_a_time_constant_for_each_synapse_is_refused():
    with pytest.raises(ValueError, match="memory_ms must be one number; got 'an array'"):
        plasticity_window.run(ShortTermStdp(memory_ms=np.full((2, 1), 300.0)))


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
