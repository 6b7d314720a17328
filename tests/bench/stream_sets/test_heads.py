"""Heads for frozen features."""

import numpy as np
import pytest

from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets.heads import PROTOTYPE_GAIN, linear_head, prototype_head


@pytest.fixture
def examples():
    """Five classes of noisy directions; 40 examples of each, (features, labels)."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(5), 40)
    return unit_rows(np.eye(5, 8)[labels] + 0.2 * rng.normal(size=(200, 8))), labels


def test_a_linear_head_answers_what_it_has_learned(examples):
    features, labels = examples
    head = linear_head(features, labels, 5, strength=100.0)
    assert (head.logits(features).argmax(axis=1) == labels).mean() > 0.97
    np.testing.assert_allclose(head.centre, features.mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize("known", [[1, 3], [0, 2, 4]])
def test_a_class_without_examples_is_never_answered(known, examples):
    features, labels = examples
    some = np.isin(labels, known)
    head = linear_head(features[some], labels[some], 6, strength=100.0)
    assert head.weight.shape == (6, 8)
    assert set(head.logits(features).argmax(axis=1)) <= set(known)
    assert (head.logits(features[some]).argmax(axis=1) == labels[some]).mean() > 0.97


def test_two_classes_have_the_odds_of_the_regression(examples):
    from sklearn.linear_model import LogisticRegression

    features, labels = examples
    some = labels < 2
    head = linear_head(features[some], labels[some], 2, strength=1.0)
    model = LogisticRegression(C=1.0, max_iter=2000, tol=1e-6).fit(features[some].astype(np.float64), labels[some])
    odds = head.logits(features[some])[:, 1] - head.logits(features[some])[:, 0]
    np.testing.assert_allclose(odds, model.decision_function(features[some].astype(np.float64)), atol=1e-3)


def test_a_prototype_is_the_mean_direction_and_its_logit_the_cosine(examples):
    features, labels = examples
    head = prototype_head(features, labels, 6)
    mean = features[labels == 2].mean(axis=0)
    np.testing.assert_allclose(head.weight[2], PROTOTYPE_GAIN * mean / np.linalg.norm(mean), rtol=1e-5)
    assert head.logits(head.weight[:5] / PROTOTYPE_GAIN).diagonal() == pytest.approx(PROTOTYPE_GAIN)
    assert not head.weight[5].any()
    assert (head.logits(features).argmax(axis=1) == labels).mean() > 0.97


def test_rows_have_length_one_and_zeros_stay():
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 0, 1])
    assert rows.dtype == np.float32
