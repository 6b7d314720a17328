"""Where the model of the paper is exact, its posterior is the true one; elsewhere it is close."""

import numpy as np
import pytest

from springback.data.environment import RandomContinuousEnvironment
from springback.elastic import Elasticity, Exponential, Windowed, init, prepare, read, track


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_without_a_past_the_posterior_is_that_of_a_gaussian_mixture():
    """Equal spreads s and means of one length r: on the unit sphere, P(k | x) is a soft-max of (r / s^2) cos."""
    rng = np.random.default_rng(0)
    means, points = 2.0 * unit(rng.normal(size=(4, 3))), unit(rng.normal(size=(50, 3)))
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    world = RandomContinuousEnvironment(means=means, spreads=0.7, diffusion=1.0, beta=1e15, decay=1.0, prior=prior)
    model = prepare(Elasticity(kappa=2.0 / 0.7**2, pull=None, beta=1e15), means, prior)
    exact = world.exact_posterior(points, np.arange(50.0))
    np.testing.assert_allclose(read(model, init(model), points).posterior, exact, rtol=1e-9)
    np.testing.assert_allclose(track(model, init(model), points)[1].posterior, exact, rtol=1e-6)


@pytest.mark.parametrize("beta", [0.01, 0.3, 1.0])
def test_with_a_past_at_the_class_centres_the_posterior_is_exact(beta):
    """f reaches one step back and the object moves by the spread of its class: then the past only moves the prior."""
    rng = np.random.default_rng(1)
    means = np.eye(3)
    spread = 0.12
    world = RandomContinuousEnvironment(
        means=means,
        spreads=spread,
        diffusion=spread,
        beta=beta,
        decay=lambda age: (age <= 1).astype(float),
        prior=np.array([0.5, 0.3, 0.2]),
    )
    kernel = Windowed(function=lambda lag: (lag <= 1).astype(float), frames=1)
    model = prepare(
        Elasticity(kappa=1 / spread**2, pull=None, beta=beta, kernel=kernel), means, np.array([0.5, 0.3, 0.2])
    )
    influence = 0.0
    for seen in range(3):
        for _ in range(20):
            weights = rng.dirichlet([0.6, 0.6, 0.6])
            pair = np.array([means[seen], unit(weights @ means)])
            exact = world.exact_posterior(pair, np.arange(2.0))[1]
            ours = track(model, init(model), pair)[1].posterior[1]
            np.testing.assert_allclose(ours, exact, atol=1e-9)
            influence = max(influence, np.abs(exact - read(model, init(model), pair[1:]).posterior[0]).max())
    assert influence > 0.1, "the past must matter, or nothing is tested"


def test_on_random_worlds_the_posterior_is_closer_to_the_exact_one_than_the_static_posterior():
    """One vMF per class cannot be exact here; paired over 40 worlds, with kappa = r^2 / s^2 for both models."""
    rng = np.random.default_rng(2)
    gaps = []
    for seed in range(100, 140):
        means = 3.0 * unit(rng.normal(size=(4, 8)))
        world = RandomContinuousEnvironment(means=means, spreads=0.8, diffusion=0.25, beta=0.3, decay=3.0)
        seen = world.sample(300, seed)
        exact = world.exact_posterior(seen.points, seen.times)
        kappa, kernel = 3.0**2 / 0.8**2, Exponential(memory=3.0)
        elastic = prepare(Elasticity(kappa=kappa, pull=None, beta=0.3, kernel=kernel, unit_inputs=False), means)
        static = prepare(Elasticity(kappa=kappa, pull=0.0), means)
        answers = [track(model, init(model), seen.points, seen.times)[1].posterior for model in (elastic, static)]
        gaps.append([np.abs(answer - exact).sum(axis=1).mean() / 2 for answer in answers])
    gain = np.diff(gaps, axis=1)[:, 0]
    assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(len(gain))
