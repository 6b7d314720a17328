"""Elastic clustering in the plane."""

import io

import numpy as np
import pytest

from springback_paper.figures.fig_2a import SpringsInPlane, draw, run, spring


@pytest.fixture(scope="module")
def result():
    return run()


def test_a_new_input_pulls_each_neuron_by_its_posterior(result):
    np.testing.assert_allclose(result.change, result.pull * result.posterior[:, None] * result.new_input, atol=1e-12)
    assert result.posterior.sum() == pytest.approx(1)
    efficacy = result.before / np.linalg.norm(result.before, axis=1, keepdims=True)
    assert result.posterior.argmax() == (efficacy @ result.new_input).argmax()


def test_earlier_inputs_have_moved_the_neurons_and_time_brings_them_back(result):
    assert (np.linalg.norm(result.before - result.resting, axis=1) > 0.05).all()
    after = result.pulled[result.n_inputs - 1 :]
    np.testing.assert_allclose(after[1:], after[:-1] * np.exp(-1 / result.memory))


def test_earlier_inputs_fade_with_their_age(result):
    age = np.arange(result.n_inputs - 1, 0, -1)
    np.testing.assert_allclose(result.remembered, np.exp(-age / result.memory))


def test_a_spring_joins_its_ends():
    start, end = np.array([1.0, 2.0]), np.array([-1.0, 3.0])
    zigzag = spring(start, end)
    np.testing.assert_allclose(zigzag[[0, -1]], [start, end])
    assert np.isfinite(spring(start, start)).all()


def test_neurons_are_drawn_where_their_efficacies_are(result):
    figure = draw(result)
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o" and line.get_markersize() == 10]
    np.testing.assert_array_equal([[one.get_xdata()[0], one.get_ydata()[0]] for one in dots], result.before)
    figure.savefig(io.BytesIO(), format="png")


def test_a_single_input_is_refused():
    with pytest.raises(ValueError, match=r"Springs\.inputs_deg must have at least two inputs"):
        SpringsInPlane(inputs_deg=(1.0,))
