"""How right answers are, as fractions."""

import numpy as np
import pytest

from springback.streaming import metrics
from tests.streaming.test_records import video_of


def test_accuracy_is_the_share_of_right_answers_and_unknown_without_any():
    assert metrics.accuracy(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5])) == 0.75
    assert np.isnan(metrics.accuracy(np.array([], np.int64), np.array([], np.int64)))


def test_accuracy_by_rows_and_ink():
    video = video_of(np.zeros((6, 2, 2), np.uint8))
    object.__setattr__(video, "labels", np.array([1, 1, 1, 1, 10, 10]))
    object.__setattr__(video, "rows_hidden", np.array([0, 0, 3, 3, -1, -1], np.int16))
    object.__setattr__(video, "ink_hidden", np.array([0, 0.05, 0.55, 1.0, np.nan, np.nan], np.float32))
    predicted = np.array([1, 2, 1, 1, 10, 1])
    assert metrics.accuracy_by_rows(predicted, video) == {"0": 0.5, "3": 1.0, "noise": 0.5}
    assert metrics.accuracy_by_ink(predicted, video) == {"0-10": 0.5, "50-60": 1.0, "90-100": 1.0, "noise": 0.5}
    score = metrics.score_video(predicted, video)
    assert score.accuracy == pytest.approx(4 / 6)
    assert score.by_rows_hidden == metrics.accuracy_by_rows(predicted, video)


def test_confusion_counts_every_answer():
    table = metrics.confusion(np.array([1, 2, 10]), np.array([1, 1, 10]))
    assert (table[1, 1], table[1, 2], table[10, 10], table.sum()) == (1, 1, 1, 3)


def test_flips_are_counted_within_each_stream():
    assert metrics.flips([1, 2, 2, 1]) == 2
    assert metrics.flips([1, 2, 1, 2, 2], keys=["a", "b", "a", "b", "a"]) == 1
    assert metrics.flips([]) == 0


def test_delays_are_frames_before_the_first_right_answer_in_order_of_appearance():
    found = metrics.delays([0, 1, 3, 1, 0], [1, 1, 2, 1, 2], [9, 9, 4, 9, 4])
    assert found[0] == 1
    assert np.isnan(found[1])


def test_calibration_error_is_zero_if_probabilities_are_frequencies():
    posterior = np.tile([0.7, 0.3], (10, 1))
    assert metrics.calibration_error(posterior, [0] * 7 + [1] * 3) == pytest.approx(0.0)
    assert metrics.calibration_error(posterior, [1] * 7 + [-1] * 3) == pytest.approx(0.7)
    assert np.isnan(metrics.calibration_error(posterior, [-1] * 10))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: metrics.flips([1, 2], keys=["a"]), "keys must be 2, one for each answer"),
        (lambda: metrics.calibration_error(np.eye(2), ["a", "b"]), "labels must be numbers of classes"),
        (lambda: metrics.accuracy(np.array([1]), np.array([1, 2])), "predicted must be 2, one for each label; got 1"),
        (lambda: metrics.accuracy(np.array([1]), np.array(["1"])), "predicted must be of the same kind as the labels"),
        (lambda: metrics.confusion(np.array([1]), np.array([77])), "labels must be among the classes"),
    ],
)
def test_answers_that_cannot_be_compared_with_labels_are_refused(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask()


def test_an_object_is_sure_from_its_first_frame_that_is_probable_enough():
    probabilities = np.array([[0.6, 0.4], [0.2, 0.8], [0.04, 0.96], [0.05, 0.95], [0.5, 0.5]])
    objects = ["a", "b", "a", "b", "c"]
    assert metrics.sure_after(probabilities, objects).tolist()[:2] == [1, 1]
    assert np.isnan(metrics.sure_after(probabilities, objects)[2])
    assert metrics.sure_after(probabilities, objects, until=0.5).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="until must be <= 1"):
        metrics.sure_after(probabilities, objects, until=95)
