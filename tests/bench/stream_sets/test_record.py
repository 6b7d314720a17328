"""Streams, heads and splits refuse what cannot be one."""

import math

import numpy as np
import pytest

from springback_bench.stream_sets import Head, Stream, StreamSplit


def stream(**changes):
    parts = {
        "features": np.eye(4, dtype=np.float32),
        "labels": np.array([0, 1, 1, -1]),
        "times": np.arange(4.0),
        "objects": np.array([0, 1, 1, 2]),
    }
    return Stream(**parts | changes)


def head(**changes):
    parts = {
        "weight": np.eye(2, 4, dtype=np.float32),
        "bias": np.zeros(2, np.float32),
        "centre": np.zeros(4, np.float32),
    }
    return Head(**parts | changes)


def split(**changes):
    return StreamSplit(
        **{"name": "x", "split": 0, "head": head(), "validation": (stream(),), "test": (stream(),)} | changes
    )


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"features": np.eye(4)}, "Stream.features"),
        ({"features": np.full((4, 4), np.nan, np.float32)}, "Stream.features"),
        ({"features": np.ones(4, np.float32)}, "Stream.features"),
        ({"features": np.ones((0, 4), np.float32)}, "Stream.features must hold a frame; got (0, 4)"),
        ({"labels": np.zeros(3, np.int64)}, "Stream.labels"),
        ({"labels": np.zeros(4)}, "Stream.labels"),
        ({"labels": np.array([0, 1, -2, 0])}, "Stream.labels must be -1 or a class; got"),
        ({"times": np.array([0.0, 1.0, 1.0, 2.0])}, "Stream.times must rise from frame to frame"),
        ({"times": np.array([0.0, 1.0, np.nan, 2.0])}, "Stream.times"),
        ({"times": np.arange(4)}, "Stream.times"),
        ({"objects": np.arange(5)}, "Stream.objects"),
    ],
)
def test_a_stream_that_is_none_is_refused_by_name(changes, part):
    with pytest.raises((TypeError, ValueError)) as caught:
        stream(**changes)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"weight": np.eye(2, 4)}, "Head.weight"),
        ({"bias": np.zeros(3, np.float32)}, "Head.bias"),
        ({"centre": np.zeros(2, np.float32)}, "Head.centre"),
        ({"bias": np.full(2, np.inf, np.float32)}, "Head.bias"),
    ],
)
def test_a_head_that_is_none_is_refused_by_name(changes, part):
    with pytest.raises((TypeError, ValueError), match=part.replace(".", r"\.")):
        head(**changes)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"validation": ()}, "StreamSplit.validation must hold a stream"),
        ({"test": ()}, "StreamSplit.test must hold a stream"),
        ({"test": (stream(features=np.ones((4, 3), np.float32)),)}, "Stream.features"),
        ({"validation": (stream(labels=np.array([0, 1, 2, 0])),)}, "below 2, the classes of the head; got 2"),
    ],
)
def test_a_split_whose_parts_do_not_fit_is_refused(changes, part):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        split(**changes)
    assert part in str(caught.value)


def test_accuracy_leaves_out_what_is_not_scored():
    assert head().accuracy([stream(), stream()]) == pytest.approx(2 / 3)
    assert math.isnan(head().accuracy([stream(labels=np.full(4, -1))]))


def test_shuffled_frames_keep_their_labels_and_share_no_object():
    original = stream(labels=np.arange(4))
    mixed = original.shuffled(seed=3)
    assert (mixed.features.argmax(axis=1) == mixed.labels).all()
    assert not (mixed.labels == original.labels).all()
    assert (mixed.times == original.times).all()
    assert len(set(mixed.objects)) == 4


def test_an_object_that_was_away_twice_has_both_lengths():
    seen = np.array([3, 9, 3, 3, 8, 7, 3, 9])
    found = stream(features=np.zeros((8, 4), np.float32), labels=seen * 0, times=np.arange(8.0), objects=seen)
    assert found.frames_away().tolist() == [0, 0, 1, 1, 0, 0, 2, 5]
