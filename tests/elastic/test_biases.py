import numpy as np
import pytest
from scipy.optimize import brentq

from springback.elastic import Elasticity, prepare

PRIORS = np.array([1e-12, 1e-6, 1 / 1600, 1 / 400, 0.01, 0.1, 0.301, 0.5, 0.9, 0.999999])


def biases(rule, priors, n_features=2):
    """The bias of a class of each prior, next to one other class, in the linear model of `n_features` features."""
    params = Elasticity(likelihood="linear", bias_rule=rule)
    return np.array([prepare(params, np.eye(2, n_features), [p, 1 - p]).constants.bias[0] for p in priors])


def test_the_bias_on_the_circle_solves_the_paper_equation():
    slow = [brentq(lambda g, p=p: np.sqrt(1 - g * g) + g * np.arccos(-g) - p, -1, 0, xtol=1e-15) for p in PRIORS]
    np.testing.assert_allclose(biases("circle", PRIORS), slow, atol=1e-9)
    np.testing.assert_array_equal(biases("circle", [0.0, 1.0]), [-1.0, 0.0])


@pytest.mark.parametrize("n_features", [2, 3, 7, 100, 784])
def test_the_bias_on_the_sphere_gives_each_class_its_prior(oracle, n_features):
    found = biases("sphere", PRIORS, n_features)
    assert (np.diff(found) > 0).all()
    for prior, bias in zip(PRIORS[2:], found[2:], strict=True):
        assert oracle.prior_on_sphere(bias, n_features) == pytest.approx(prior, rel=1e-8)
    np.testing.assert_array_equal(biases("sphere", [0.0, 1.0], n_features), [-1.0, 0.0])


def test_the_circle_is_the_sphere_of_two_features():
    np.testing.assert_allclose(biases("sphere", PRIORS, 2), biases("circle", PRIORS), atol=1e-10)


def test_random_directions_choose_a_class_as_often_as_its_prior_says(oracle):
    rng = np.random.default_rng(0)
    cosine = rng.normal(size=(400_000, 20))
    cosine = cosine[:, 0] / np.linalg.norm(cosine, axis=1)
    share = np.maximum(cosine + biases("sphere", [0.1], 20), 0).mean() / np.maximum(cosine, 0).mean()
    assert share == pytest.approx(0.1, rel=0.02)
    too_rare = np.maximum(cosine + biases("circle", [0.1]), 0).mean() / np.maximum(cosine, 0).mean()
    assert too_rare < 0.001
    assert oracle.prior_on_sphere(biases("circle", [0.1])[0], 20) < 0.001


def test_the_bias_curve_is_the_integral_of_the_rectified_shifted_cosine(oracle):
    for bias in (-0.95, -0.5, -0.1):
        angle = np.linspace(-np.pi, np.pi, 400_001)
        area = np.trapezoid(np.maximum(np.cos(angle) + bias, 0) / 2, angle)
        assert oracle.prior_of_bias(np.array([bias]))[0] == pytest.approx(area, abs=1e-9)


def test_the_line_overestimates_the_prior_by_more_than_the_paper_says(oracle):
    """The paper: at most 31.9 %. At its own point, G0 = -cos 1, it is 52.6 %; towards P = 0 it has no bound."""
    worst_place = -np.cos(1.0)
    truth = oracle.prior_of_bias(np.array([worst_place]))[0]
    line = worst_place + 1
    assert truth == pytest.approx(np.sin(1) - np.cos(1))
    assert (line - truth) / truth == pytest.approx(0.526, abs=5e-4)
    grid = np.linspace(-1, 0, 100_001)[1:]
    gap = grid + 1 - oracle.prior_of_bias(grid)
    assert gap.max() == pytest.approx(line - truth, abs=1e-9)
    assert (gap / oracle.prior_of_bias(grid)).max() > 100
    papers_own = np.sqrt(np.sin(1) ** 2 - np.cos(1))
    assert (np.cos(1) - papers_own) / papers_own == pytest.approx(0.319, abs=5e-4)


def test_the_line_is_below_the_bias_on_the_circle_by_at_most_0_159():
    priors = np.linspace(0, 1, 201)
    line = biases("line", priors)
    np.testing.assert_allclose(line, priors - 1, atol=1e-15)
    gap = biases("circle", priors) - line
    assert gap.min() >= -1e-12
    assert gap.max() == pytest.approx(0.159, abs=5e-4)
    assert (biases("circle", [1 / 400]) - biases("line", [1 / 400]))[0] == pytest.approx(0.0166, abs=5e-4)


def test_posteriors_by_hand(oracle):
    u, prior = np.array([0.2, 0.5, 0.9]), np.array([0.5, 0.3, 0.2])
    joint = prior * np.exp(7.0 * u)
    np.testing.assert_allclose(oracle.exponential_posterior(u, prior, 7.0), joint / joint.sum(), rtol=1e-12)
    np.testing.assert_allclose(oracle.linear_posterior(u, np.full(3, -0.4), prior), [0, 1 / 6, 5 / 6], atol=1e-12)
    np.testing.assert_allclose(oracle.linear_posterior(u, np.full(3, -1.0), prior), prior)


def test_elastic_prior_stays_a_distribution_and_meets_its_limits(oracle):
    prior, share = np.array([0.7, 0.3]), np.array([0.0, 2.0])
    assert oracle.elastic_prior(prior, 0.5, share, 2.0).sum() == pytest.approx(1)
    np.testing.assert_allclose(oracle.elastic_prior(prior, 1e12, share, 2.0), prior, atol=1e-9)
    np.testing.assert_allclose(oracle.elastic_prior(prior, 1e-12, share, 2.0), [0, 1], atol=1e-9)


@pytest.mark.parametrize("prior", [[-0.1, 1.1], [0.0, 0.0]])
def test_priors_that_are_no_probabilities_are_refused(prior):
    with pytest.raises(ValueError, match="prior must be >= 0 and not all zero"):
        prepare(Elasticity(likelihood="linear"), np.eye(2), prior)
