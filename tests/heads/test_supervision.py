"""Classes of tracked detections that do not flicker, with the real library."""

import numpy as np
import pytest

from springback.heads.supervision import SteadyClasses

sv = pytest.importorskip("supervision")


def detections(tracks, scores, **data):
    scores = np.asarray(scores, float)
    boxes = np.tile([0.0, 0.0, 1.0, 1.0], (len(tracks), 1))
    return sv.Detections(
        xyxy=boxes,
        class_id=scores.argmax(axis=1),
        confidence=scores.max(axis=1),
        tracker_id=np.array(tracks),
        data=data,
    )


def test_a_single_mistaken_frame_of_a_track_changes_nothing_and_the_given_detections_stay():
    steady = SteadyClasses(["cat", "dog", "eel"])
    for _ in range(3):
        steady.update(detections([1, 2], [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]))
    given = detections([2, 1], [[0.5, 0.2, 0.3], [0.3, 0.5, 0.2]])
    found = steady.update(given)
    assert found.class_id.tolist() == [2, 0]
    assert given.class_id.tolist() == [0, 1]
    assert np.allclose(found.data["class_probabilities"].sum(axis=1), 1, atol=1e-5)
    assert (found.tracker_id == given.tracker_id).all()


def test_scores_of_all_classes_are_used_if_they_are_there():
    steady = SteadyClasses(["cat", "dog"])
    found = steady.update(detections([1], [[0.9, 0.1]], class_scores=np.array([[0.2, 0.8]])))
    assert found.class_id.tolist() == [1]


def test_tracks_come_and_go_within_bounds():
    steady = SteadyClasses(["cat", "dog"], most_tracks=3, forget_after=2)
    for number in range(6):
        steady.update(detections([number], [[0.9, 0.1]]))
    assert len(steady.streams) <= 3
    for _ in range(4):
        steady.update(sv.Detections.empty())
    assert len(steady.streams) == 0


def test_detections_without_tracks_are_answered_by_themselves():
    given = detections([1, 2], [[0.9, 0.1], [0.4, 0.6]])
    given.tracker_id = None
    steady = SteadyClasses(["cat", "dog"])
    assert steady.update(given).class_id.tolist() == [0, 1]
    assert len(steady.streams) == 0
