"""A Gaussian for each class, against sums over all frames so far."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.gaussian_means import GaussianMeans


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)).astype(np.float32), 0.8 * rng.normal(size=(4, 6)), rng.normal(size=4)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def by_hand(x, w, b, strength, prior_counts, shares):
    """Taught by the frozen answers, so that means are weighted averages of the frames so far."""
    rows, frozen = unit(x.astype(float)), softmax(x.astype(float) @ w.T + b)
    home, answers = unit(w), []
    for t, row in enumerate(rows):
        seen, weights = rows[:t], frozen[:t]
        counts = prior_counts + weights.sum(axis=0)
        means = (prior_counts * home + weights.T @ seen) / counts[:, None]
        around = (weights[:, :, None] * (seen[:, None] - means) ** 2).sum(axis=(0, 1))
        around += (prior_counts * (home - means) ** 2).sum(axis=0)
        variances = (4 * prior_counts / 6 + around) / counts.sum()
        trust = strength * t / (t + prior_counts)
        z = x[t].astype(float) @ w.T + b - trust * ((row - means) ** 2 / variances).mean(axis=1) / 2
        answers.append(z + (np.log(counts / counts.sum()) if shares == "stream" else 0))
    return softmax(np.array(answers))


@pytest.mark.parametrize("shares", ["equal", "stream"])
def test_answers_are_those_of_means_and_variances_over_all_frames(stream, shares):
    settings = {"strength": 3.0, "prior_counts": 2.5, "shares": shares}
    answers = GaussianMeans(*stream[1:], teacher="frozen", **settings).track(stream[0])
    assert np.allclose(answers, by_hand(*stream, **settings), atol=1e-4)


def test_joined_answers_teach_something_else(stream):
    x, w, b = stream
    frozen, joined = (GaussianMeans(w, b, strength=9.0, teacher=one).track(x) for one in ("frozen", "joined"))
    assert np.allclose(frozen[1], joined[1], atol=1e-6)
    assert np.abs(frozen - joined).max() > 0.01


def test_without_strength_it_is_the_head(stream):
    x, w, b = stream
    assert np.allclose(GaussianMeans(w, b, strength=0.0).track(x), softmax(x @ w.T + b), atol=1e-5)


def test_bad_settings_are_refused(stream):
    for given, part in (
        ({"strength": -1}, "strength must be >= 0"),
        ({"prior_counts": 0}, "prior_counts must be > 0"),
        ({"shares": "other"}, "shares must be one of"),
        ({"teacher": "other"}, "teacher must be one of"),
    ):
        with pytest.raises(ValueError, match=part):
            GaussianMeans(*stream[1:], **given)
