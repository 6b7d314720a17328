"""Accuracy, calibration and coverage of the benchmark on streams."""

import numpy as np
import pytest

from springback_bench.comparison.scores import accuracy_at_coverage, accuracy_by_gap, calibration_error, right_answers


def test_frames_without_a_label_count_nowhere():
    labels = np.array([0, 0, -1])
    answers = np.array([[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]])
    assert right_answers(answers, labels) == 1
    assert calibration_error(answers, labels) == pytest.approx(0.1)
    assert accuracy_at_coverage(answers, labels) == 1


def test_honest_probabilities_have_no_calibration_error():
    rng = np.random.default_rng(0)
    sure = rng.uniform(0.5, 1, 20_000)
    labels = (rng.random(20_000) > sure).astype(np.int64)
    assert calibration_error(np.stack([sure, 1 - sure], axis=1), labels) < 0.02
    assert calibration_error(np.stack([sure, 1 - sure], axis=1), np.zeros(20_000, np.int64)) > 0.2


def test_calibration_errors_of_two_bins_do_not_cancel():
    answers = np.array([[0.9, 0.1], [0.6, 0.4]])
    assert calibration_error(answers, np.array([1, 0])) == pytest.approx((0.9 + 0.4) / 2)


def test_full_certainty_belongs_to_the_last_bin():
    assert calibration_error(np.array([[1.0, 0.0]]), np.array([0])) == 0


def test_the_least_sure_answers_are_not_given():
    sure = np.array([0.99, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55])
    labels = np.zeros(10, np.int64)
    labels[-1] = 1
    answers = np.stack([sure, 1 - sure], axis=1)
    assert right_answers(answers, labels) == 0.9
    assert accuracy_at_coverage(answers, labels) == 1


def test_accuracy_is_told_for_each_gap_and_only_after_returns():
    answers = np.eye(2)[[0, 0, 1, 0, 1]]
    labels = np.array([1, 0, 1, 1, -1])
    assert accuracy_by_gap(answers, labels, np.array([0, 3, 3, 7, 9])) == {"3": 1.0, "7": 0.0}
