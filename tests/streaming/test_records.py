"""The nouns check themselves."""

import numpy as np
import pytest

from springback.streaming.records import Images, Video


def video_of(frames):
    n = len(frames)
    return Video(
        labels=np.arange(n),
        rows_hidden=np.zeros(n, np.int16),
        ink_hidden=np.zeros(n, np.float32),
        digit=np.arange(n),
        frame_shape=frames.shape[1:],
        source=lambda start, stop: frames[start:stop],
    )


def test_images_refuse_floats():
    with pytest.raises(ValueError, match=r"Images.pixels must have dtype uint8; got 'float64'"):
        Images(np.zeros((1, 2, 2)), np.zeros(1, np.int64))


def test_images_refuse_a_missing_label():
    with pytest.raises(ValueError, match=r"Images.labels must have shape \(2\)"):
        Images(np.zeros((2, 2, 2), np.uint8), np.zeros(1, np.int64))


@pytest.mark.parametrize("labels", [np.array([3, 7], np.uint8), np.array([3.0, 7.0]), np.array([True, False])])
def test_labels_that_are_whole_numbers_are_kept_as_integers(labels):
    images = Images(np.zeros((2, 2, 2), np.uint8), labels)
    assert images.labels.dtype == np.int64
    assert images.labels.tolist() == labels.tolist()


def test_labels_can_be_strings():
    images = Images(np.zeros((2, 2, 2), np.uint8), np.array(["cat", "dog"], object))
    assert images[1:].labels.tolist() == ["dog"]


def test_labels_that_are_neither_are_refused():
    with pytest.raises(TypeError, match=r"Images.labels must be whole numbers or strings; got dtype object"):
        Images(np.zeros((2, 2, 2), np.uint8), np.array([3, None], object))


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_chunks_concatenate_to_the_whole(size):
    frames = np.random.default_rng(0).integers(0, 255, (10, 4, 5), dtype=np.uint8)
    video = video_of(frames)
    pieces = list(video.chunks(size))
    np.testing.assert_array_equal(np.concatenate([piece.frames for piece in pieces]), frames)
    np.testing.assert_array_equal(np.concatenate([piece.labels for piece in pieces]), video.labels)


def test_a_stretch_of_a_stretch_is_the_same_frames():
    frames = np.random.default_rng(1).integers(0, 255, (10, 4, 5), dtype=np.uint8)
    np.testing.assert_array_equal(video_of(frames).stretch(2, 9).stretch(1, 4).frames, frames[3:6])


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3), (0, 11)])
def test_a_stretch_outside_the_video_is_refused(start, stop):
    with pytest.raises(ValueError, match="stretch must lie within"):
        video_of(np.zeros((10, 2, 2), np.uint8)).stretch(start, stop)
