"""Digits that go out of sight and return."""

import numpy as np
import pytest

from springback.data.catalogue import folder_of
from springback.streaming.records import NOISE_LABEL, Images
from springback_bench.stream_sets import _image_network, stream_sets
from springback_bench.stream_sets.hidden import distractors, hidden_gap
from springback_bench.stream_sets.record import Stream


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    return Images(rng.integers(1, 255, (120, 28, 28), dtype=np.uint8), np.arange(120) % 10)


def stream_of(scene):
    n = len(scene.labels)
    return Stream(
        features=np.zeros((n, 1), np.float32),
        labels=np.array(scene.labels),
        times=np.arange(n, dtype=np.float64),
        objects=np.array(scene.objects),
    )


def film_of(scene, images):
    return np.concatenate(list(scene.frames(images)))


def test_a_hidden_digit_leaves_no_trace_and_keeps_its_class(images):
    scene = hidden_gap(images, np.random.default_rng(0))
    frames, labels = film_of(scene, images), np.array(scene.labels)
    blank = ~frames.any(axis=(1, 2))
    assert (np.array(scene.rows)[blank] == 28).all()
    begins = np.flatnonzero(np.diff(blank.astype(int), prepend=0) == 1)
    assert (labels[begins] == labels[begins - 1]).all()
    assert len(begins) == len(images)


@pytest.mark.parametrize("make", [hidden_gap, distractors])
def test_the_length_of_every_gap_follows_from_the_objects(make, images):
    scene = make(images, np.random.default_rng(1))
    stream = stream_of(scene)
    away = stream.frames_away()
    returns = np.flatnonzero(np.diff(away, prepend=0) > 0)
    assert len(returns) == len(images)
    assert set(away[returns]) == set(range(3, 21))
    for at in returns:
        gap = away[at]
        assert stream.objects[at] == stream.objects[at - gap - 1]
        assert stream.objects[at] not in stream.objects[at - gap : at]
        assert (away[at : at + 5] == gap).all()
        assert at + 5 == len(away) or away[at + 5] == 0


@pytest.mark.parametrize("make", [hidden_gap, distractors])
def test_a_digit_that_returns_is_mostly_covered(make, images):
    scene = make(images, np.random.default_rng(1))
    assert np.array(scene.rows)[stream_of(scene).frames_away() > 0].min() == 19


@pytest.mark.parametrize("name", ["hidden-gap", "distractors"])
def test_neither_the_stream_nor_the_head_knows_noise(name, monkeypatch):
    monkeypatch.setattr(_image_network, "N_VALIDATION", 10)
    monkeypatch.setattr(_image_network, "N_TEST", 12)
    split = stream_sets()[name].make(1, folder_of(None), lambda _: None)
    assert split.head.weight.shape == (10, 400)
    for stream, count in ((split.validation[0], 10), (split.test[0], 12)):
        assert stream.labels.max() < NOISE_LABEL
        assert (np.diff(stream.frames_away(), prepend=0) > 0).sum() == count


def test_distractors_are_of_other_classes_and_each_is_an_object(images):
    scene = distractors(images, np.random.default_rng(2))
    stream = stream_of(scene)
    away = stream.frames_away()
    for at in np.flatnonzero(np.diff(away, prepend=0) > 0):
        between = slice(at - away[at], at)
        assert (stream.labels[between] != stream.labels[at]).all()
        assert len(set(stream.objects[between])) == -(-away[at] // 4)
        assert (np.bincount(stream.objects[between] - stream.objects[between].min()) <= 4).all()


def test_frames_are_the_images_with_rows_hidden_from_the_top(images):
    scene = hidden_gap(images, np.random.default_rng(0))
    frames = film_of(scene, images)
    for at in range(0, len(frames), 37):
        expected = images.pixels[scene.image[at]].copy()
        expected[: scene.rows[at]] = 0
        np.testing.assert_array_equal(frames[at], expected)
