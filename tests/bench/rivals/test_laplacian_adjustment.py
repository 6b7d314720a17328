"""Answers that agree among similar frames, against the update written plainly for a whole window."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.laplacian_adjustment import LaplacianAdjustment


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)).astype(np.float32), rng.normal(size=(4, 6)), rng.normal(size=4)


def adjusted(x, w, b, n_neighbours, strength, iterations):
    """The answers to all rows of one window, with every iteration computed."""
    p = softmax(x @ w.T + b)
    units = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -np.inf)
    affinity = np.zeros_like(cosines)
    for i, order in enumerate(np.argsort(-cosines, axis=1)):
        affinity[i, order[: min(n_neighbours, len(x) - 1)]] = 1
    y = p
    for _ in range(iterations):
        y = softmax(np.log(p) + strength * affinity @ y)
    return y


@pytest.mark.parametrize(
    ("window", "n_neighbours", "strength"), [(8, 3, 1.0), (5, 10, 0.5), (100, 5, 2.0), (2, 1, 1.0)]
)
def test_the_answer_is_that_of_the_newest_frame_of_the_window(stream, window, n_neighbours, strength):
    x, w, b = stream
    model = LaplacianAdjustment(w, b, window=window, n_neighbours=n_neighbours, strength=strength, iterations=500)
    expected = [
        adjusted(x[max(0, t + 1 - window) : t + 1].astype(float), w, b, n_neighbours, strength, 500)[-1]
        for t in range(len(x))
    ]
    assert np.allclose(model.track(x), expected, atol=1e-3)


def test_one_iteration_is_one_update(stream):
    x, w, b = stream
    model = LaplacianAdjustment(w, b, window=100, n_neighbours=3, iterations=1)
    assert np.allclose(model.track(x)[-1], adjusted(x.astype(float), w, b, 3, 1.0, 1)[-1], atol=1e-5)


@pytest.mark.parametrize("settings", [{"window": 1}, {"strength": 0.0}])
def test_alone_or_without_strength_it_is_the_head(stream, settings):
    x, w, b = stream
    assert np.allclose(LaplacianAdjustment(w, b, **settings).track(x), softmax(x @ w.T + b), atol=1e-5)


def test_frames_without_features_have_neighbours_too(stream):
    _, w, b = stream
    answers = LaplacianAdjustment(w, b, window=4).track(np.zeros((9, 6)))
    assert np.isfinite(answers).all()


@pytest.mark.parametrize("name", ["window", "n_neighbours", "iterations"])
def test_numbers_of_frames_and_iterations_are_at_least_one(stream, name):
    with pytest.raises(ValueError, match=f"{name} must be >= 1; got 0"):
        LaplacianAdjustment(*stream[1:], **{name: 0})


def test_a_negative_strength_is_refused(stream):
    with pytest.raises(ValueError, match="strength must be >= 0; got -1"):
        LaplacianAdjustment(*stream[1:], strength=-1)
