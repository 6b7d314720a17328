"""The network without backpropagation: its readout is ridge regression, and it follows the video."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from springback.data import load_mnist
from springback_paper.tasks.hebbian import Hebbian, evaluate, features, learned_filters, readout

SMALL = Hebbian(filters=(8, 16), practice_images=100, ridges=(1e-2,), sharpness=(8.0,), trials=10)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


def test_the_readout_is_ridge_regression(digits):
    network = learned_filters(SMALL, digits[:300], seed=0)
    weight, bias, mean = readout(SMALL, network, digits[:300], digits[300:400])
    rows, targets = np.concatenate(list(features(network, digits[:300]))), np.eye(11)[digits.labels[:300]]
    np.testing.assert_allclose(mean, rows.mean(axis=0), rtol=1e-4)
    exact = Ridge(alpha=300 * 1e-2 * rows.astype(float).var(axis=0).mean()).fit(rows.astype(float), targets)
    np.testing.assert_allclose(weight / 8, exact.coef_, atol=1e-4)
    np.testing.assert_allclose(bias / 8, exact.intercept_, atol=1e-4)


def test_labels_do_not_reach_the_filters(digits):
    images = digits[:50]
    other = type(images)(images.pixels, np.zeros_like(images.labels))
    first, second = (learned_filters(SMALL, one, seed=0).state_dict() for one in (images, other))
    assert all((first[name] == second[name]).all() for name in first)


def test_it_follows_the_video_better_than_without_memory(digits):
    found = evaluate(SMALL, digits[:1100], digits[2000:2060], seed=0)
    assert found.omnist_test["hebbian_elastic"] > found.omnist_test["hebbian_static"] + 0.15
    assert found.mnist_test["hebbian_elastic"] == found.mnist_test["hebbian_static"] > 0.85
