"""The environment of Fig. 1: what is measured on it is what it was made with."""

import io

import numpy as np
import pytest

from springback_paper.figures.fig_1 import Environment, draw, run, wiener_path


@pytest.fixture(scope="module")
def result():
    return run(Environment(n_steps=30, n_pairs=1000), seed=3)


def test_paths_pass_through_what_was_observed_and_begin_with_the_first_of_it(result):
    for one, path in enumerate(result.paths):
        own = result.objects == one
        np.testing.assert_allclose(np.interp(result.times[own], result.path_times, path), result.points[own])
        assert np.isnan(path[result.path_times < result.times[own][0]]).all()
        assert not np.isnan(path[result.path_times >= result.times[own][0]]).any()


def test_odds_are_one_when_an_object_is_seen_and_decay_with_the_time_constant(result):
    for one, odds in enumerate(result.odds):
        last = result.times[result.objects == one][-1]
        after = result.path_times >= last
        np.testing.assert_allclose(odds[after], np.exp(-(result.path_times[after] - last) / result.memory))


def test_moves_spread_as_the_gaussian_that_grows_with_time(result):
    width = result.moves[1] - result.moves[0]
    for since, density, gaussian, n in zip(
        result.since, result.move_density, result.gaussian, result.n_moves, strict=True
    ):
        variance = (density * width) @ result.moves**2
        expected = result.diffusion**2 * since
        assert abs(variance - expected) < 5 * expected * np.sqrt(2 / n) + width**2 / 12
        assert (gaussian * width).sum() == pytest.approx(1, abs=0.01)


def test_measured_odds_are_f_within_their_deviation(result):
    assert (np.abs(result.again - result.expected_again) < 4.5 * result.again_std).all()
    np.testing.assert_allclose(result.expected_again, np.exp(-result.odds_since / result.memory))


def test_the_next_observation_has_a_density_of_one_in_all(result):
    step = result.next_points[1] - result.next_points[0]
    assert result.next_density.sum() * step == pytest.approx(1, abs=0.02)


def test_a_bridge_has_the_variance_of_a_bridge():
    rng = np.random.default_rng(0)
    times = np.linspace(0, 2, 9)
    middles = [wiener_path(np.array([0.0, 2.0]), np.zeros(2), times, 0.5, rng)[4] for _ in range(2000)]
    assert np.var(middles) == pytest.approx(0.5**2 * 1 * 1 / 2, rel=0.15)


def test_every_panel_is_drawn(result):
    figure = draw(result)
    assert len(figure.axes) == 5
    figure.savefig(io.BytesIO(), format="png")
