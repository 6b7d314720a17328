import numpy as np
import pytest
from scipy.special import gammaln, iv

from springback.elastic.density import (
    log_bessel_i,
    log_linear_normaliser,
    log_uniform_density,
    log_vmf_normaliser,
    sample_linear,
    sample_vmf,
)


def bessel_by_its_series(order, x):
    m = np.arange(3000)
    terms = (2 * m + order) * np.log(x / 2) - gammaln(m + 1) - gammaln(m + order + 1)
    return terms.max() + np.log(np.exp(terms - terms.max()).sum())


def integrate_over_the_sphere(log_of_cosine, n):
    """The integral of a function of the cosine over the unit sphere in n dimensions."""
    cosine = np.cos(np.linspace(0, np.pi, 400_001))
    ring = np.log(2) + (n - 1) / 2 * np.log(np.pi) - gammaln((n - 1) / 2)
    sine = np.sin(np.linspace(0, np.pi, 400_001)).clip(min=1e-300)
    return np.trapezoid(np.exp(ring + (n - 2) * np.log(sine) + log_of_cosine(cosine)), dx=np.pi / 400_000)


@pytest.mark.parametrize("order", [0.0, 0.5, 5.0, 29.5, 30.0, 100.0, 391.0, 1500.0])
@pytest.mark.parametrize("x", [0.01, 1.0, 50.0, 400.0, 1800.0])
def test_bessel_function_agrees_with_its_series(order, x):
    assert log_bessel_i(order, x) == pytest.approx(bessel_by_its_series(order, x), rel=1e-9, abs=1e-7)


def test_bessel_function_agrees_with_scipy_where_scipy_can():
    assert log_bessel_i(35.0, 20.0) == pytest.approx(np.log(iv(35.0, 20.0)), rel=1e-9)


@pytest.mark.parametrize("n", [2, 3, 10, 784])
@pytest.mark.parametrize("kappa", [0.0, 1.0, 50.0, 2000.0])
def test_von_mises_fisher_integrates_to_one(n, kappa):
    assert integrate_over_the_sphere(
        lambda c: kappa * c + log_vmf_normaliser(n, kappa), n
    ) == pytest.approx(1, abs=1e-6)  # fmt: skip


@pytest.mark.parametrize("n", [2, 3, 10, 784])
def test_linear_and_uniform_densities_integrate_to_one(n):
    def linear(cosine):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(cosine, 0)) + log_linear_normaliser(n)

    assert integrate_over_the_sphere(linear, n) == pytest.approx(1, abs=1e-6)
    assert integrate_over_the_sphere(lambda c: 0 * c + log_uniform_density(n), n) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 20])
def test_samples_have_unit_length_and_the_right_mean_cosine(n):
    direction = np.zeros((20_000, n))
    direction[:, 0] = 1
    for kappa in (0.5, 8.0):
        drawn = sample_vmf(direction, kappa, seed=1)
        truth = integrate_over_the_sphere(
            lambda c, k=kappa: k * c + log_vmf_normaliser(n, k) + np.log(np.maximum(c + 1, 1e-300)), n
        )
        np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1)
        assert drawn[:, 0].mean() == pytest.approx(truth - 1, abs=0.02)
        assert np.abs(drawn[:, 1:].mean(axis=0)).max() < 0.03
    drawn = sample_linear(direction, seed=1)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1)
    grid = np.sort(drawn[:, 0])
    assert np.abs(1 - (1 - grid**2) ** ((n - 1) / 2) - np.linspace(0, 1, len(grid))).max() < 0.02


def test_one_dimension_has_two_directions():
    drawn = sample_vmf(np.ones((10_000, 1)), 0.5, seed=0)
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert (drawn > 0).mean() == pytest.approx(np.exp(0.5) / (np.exp(0.5) + np.exp(-0.5)), abs=0.02)
    assert log_vmf_normaliser(1, 0.5) == pytest.approx(-np.log(2 * np.cosh(0.5)))
