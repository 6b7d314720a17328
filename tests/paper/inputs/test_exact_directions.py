"""The density of a direction, against quadrature and against draws."""

import numpy as np
import pytest
from scipy.special import logsumexp

from springback.data.environment import RandomContinuousEnvironment
from springback_paper.inputs.exact_directions import exact_direction_score, log_sum_exp, projected_normal_log_density


def test_the_direction_of_a_gaussian_has_the_stated_density():
    angle = np.linspace(-np.pi, np.pi, 2001)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    for mean, deviation in (([0.4, 0.3], 0.7), ([1.0, 0.0], 0.1), ([-2.0, 0.5], 0.05)):
        log_density = np.array(
            [projected_normal_log_density(x, np.array([mean]), np.array([deviation]))[0] for x in circle]
        )
        assert np.trapezoid(np.exp(log_density), angle) == pytest.approx(1, abs=1e-6)
        drawn = np.array(mean) + deviation * np.random.default_rng(0).normal(size=(200_000, 2))
        share = (np.abs(np.arctan2(drawn[:, 1], drawn[:, 0])) < 0.5).mean()
        near = np.abs(angle) < 0.5
        assert np.trapezoid(np.exp(log_density[near]), angle[near]) == pytest.approx(share, abs=0.005)


def test_the_direction_density_agrees_with_quadrature_in_eight_dimensions():
    rng = np.random.default_rng(1)
    radius = np.linspace(0, 6, 60_001)
    for _ in range(5):
        x, mean = rng.normal(size=(2, 8)) / 3
        x /= np.linalg.norm(x)
        gaussian = (2 * np.pi * 0.16) ** -4 * np.exp(-((radius[:, None] * x - mean) ** 2).sum(axis=1) / 0.32)
        by_hand = np.trapezoid(radius**7 * gaussian, radius)
        ours = projected_normal_log_density(x, mean[None], np.array([0.4]))[0]
        assert ours == pytest.approx(np.log(by_hand), abs=1e-6)


def test_without_a_past_the_exact_score_is_the_mixture_of_projected_normals():
    world = RandomContinuousEnvironment(means=np.eye(3), spreads=0.3, diffusion=0.1, beta=1e12, decay=2.0)
    seen = world.sample(20, 0)
    scores = exact_direction_score(world, seen.points, seen.times)
    for x, found in zip(seen.points, scores, strict=True):
        parts = projected_normal_log_density(x / np.linalg.norm(x), np.eye(3), np.full(3, 0.3))
        assert found == pytest.approx(np.log(np.exp(parts).mean()), abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 9, 200, 1000])
def test_the_log_of_a_sum_of_exponentials_has_the_bits_of_scipys(n):
    rng = np.random.default_rng(n)
    for scale in (0.1, 3.0, 200.0):
        values = scale * rng.normal(size=n)
        for drawn in (values, np.repeat(values, 2), np.append(values, -np.inf), values.round()):
            # Other versions of SciPy may round the last bits differently.
            assert log_sum_exp(drawn) == pytest.approx(float(logsumexp(drawn)), rel=1e-13, abs=1e-13)
