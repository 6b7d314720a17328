"""Probabilities corrected by the shares of classes, against the rule written plainly."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.prior_correction import PriorCorrection


@pytest.fixture
def logits():
    return np.random.default_rng(0).normal(size=(60, 5))


def corrected(p, recent, frames, strength):
    shares = recent / frames
    smooth = max(1 / frames, 1 / len(p)) / shares.max()
    answer = p * ((shares + smooth) / (1 + smooth * len(p))) ** strength
    return answer / answer.sum()


@pytest.mark.parametrize("strength", [1.0, 3.0])
def test_probabilities_are_multiplied_by_smoothed_shares_of_recent_ones(logits, strength):
    p = softmax(logits)
    weights = np.exp(-np.arange(60)[::-1] / 10)
    expected = corrected(p[-1], weights @ p, weights.sum(), strength)
    assert np.allclose(PriorCorrection(5, memory=10.0, strength=strength).track(logits)[-1], expected)


def test_the_past_counts_by_its_age_in_time(logits):
    p, times = softmax(logits), np.cumsum(np.random.default_rng(1).exponential(size=60))
    weights = np.exp(-(times[-1] - times) / 3)
    expected = corrected(p[-1], weights @ p, weights.sum(), 1.0)
    model = PriorCorrection(5, memory=3.0)
    model.memory_in_ = "time"
    assert np.allclose(model.track(logits, times)[-1], expected)


def test_an_endless_memory_is_the_mean_over_a_batch(logits):
    p = softmax(logits)
    assert np.allclose(PriorCorrection(5, memory=1e12).track(logits)[-1], corrected(p[-1], p.sum(axis=0), 60, 1.0))


def test_without_memory_no_class_changes_and_without_strength_nothing_does(logits):
    assert np.array_equal(PriorCorrection(5, memory=0).track_labels(logits), logits.argmax(axis=1))
    assert np.allclose(PriorCorrection(5, strength=0).track(logits), softmax(logits))


@pytest.mark.parametrize("name", ["memory", "strength"])
def test_negative_settings_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be >= 0; got -1"):
        PriorCorrection(5, **{name: -1})
