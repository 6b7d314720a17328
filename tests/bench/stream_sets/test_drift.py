"""Images that turn, move or fade."""

import numpy as np
import pytest
from scipy import ndimage

from springback.data import NoiseObject
from springback.streaming.records import NOISE_LABEL, Images
from springback_bench.stream_sets.drift import DRIFT_VERSION, Drift, _way, fading, make_drift, moving, turning


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    pixels = np.zeros((5, 28, 28), np.uint8)
    pixels[:, 10:18, 8:20] = rng.integers(50, 255, (5, 8, 12))
    return Images(pixels, np.arange(5))


@pytest.mark.parametrize("params", [turning(), moving(), fading()])
def test_every_image_begins_as_it_is(images, params):
    video = make_drift(images, seed=1, params=params)
    for one in range(5):
        begin = np.flatnonzero(video.digit == one)[0]
        assert np.array_equal(video.frames[begin], images.pixels[one])
        assert video.labels[begin] == one


def test_without_a_rate_nothing_moves(images):
    video = make_drift(images, seed=1, params=Drift())
    shown = video.digit >= 0
    assert np.array_equal(video.frames[shown], images.pixels[video.digit[shown]])


@pytest.mark.parametrize("params", [turning(), moving(), Drift(turn_degrees=9, move_pixels=1, fade=0.1)])
def test_frames_are_those_of_an_affine_transform(images, params):
    video = make_drift(images, seed=3, params=params)
    rng = np.random.default_rng([DRIFT_VERSION, 3, 0])
    rng.integers(params.frames_min, params.frames_max, 5, endpoint=True)
    way = _way(params, 5, rng)
    middle = np.array([13.5, 13.5])
    for at in (4, 9, len(video) // 2):
        if video.digit[at] < 0:
            continue
        one = video.digit[at]
        cosine, sine, down, right, gain = way[one, at - np.flatnonzero(video.digit == one)[0]]
        turn = np.array([[cosine, -sine], [sine, cosine]])
        offset = middle - turn @ (middle + np.array([down, right]))
        by_scipy = gain * ndimage.affine_transform(images.pixels[one].astype(float), turn, offset, order=1)
        interior = np.abs(video.frames[at].astype(float) - by_scipy)
        assert np.median(interior) < 1
        assert (interior < 2).mean() > 0.95


def test_chunks_and_stretches_are_the_same_bytes(images):
    video = make_drift(images, seed=2, params=turning())
    parts = np.concatenate([chunk.frames for chunk in video.chunks(7)])
    assert np.array_equal(parts, video.frames)
    assert np.array_equal(make_drift(images, seed=2, params=turning()).frames, video.frames)
    assert not np.array_equal(make_drift(images, seed=4, params=turning()).frames[:20], video.frames[:20])


def test_fading_only_darkens(images):
    video = make_drift(images, seed=0, params=Drift(fade=0.3, jitter=0))
    light = video.frames[video.digit == 0].sum(axis=(1, 2)).astype(int)
    assert (np.diff(light) < 0).all()


def test_noise_stands_between_images(images):
    video = make_drift(images, seed=0, params=Drift(noise=NoiseObject(n_frames=2)))
    assert (video.labels == NOISE_LABEL).sum() == 10
    assert video.frames[video.labels == NOISE_LABEL].any(axis=(1, 2)).all()


def test_a_bad_rate_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"Drift.fade must be"):
        Drift(fade=1.5)
