"""Videos on disk: verified once, read in pieces, refused if they show what no video can."""

import numpy as np
import pytest

from springback.check import DataError
from springback.data import load_video, save_video
from springback.streaming.records import Video
from tests.files.forging import forge


def a_video(n=7):
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (n, 6, 5), dtype=np.uint8)
    labels = rng.integers(0, 11, n)
    noisy = labels == 10
    return Video(
        labels,
        np.where(noisy, -1, 2).astype(np.int16),
        np.where(noisy, np.nan, 0.5).astype(np.float32),
        np.where(noisy, -1, 3),
        (6, 5),
        lambda start, stop: frames[start:stop],
        "a video",
    )


@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_video_comes_back_unchanged(tmp_path, n):
    video = a_video(n)
    save_video(video, tmp_path / "v")
    again = load_video(tmp_path / "v")
    np.testing.assert_array_equal(again.frames, video.frames)
    for track in ("labels", "rows_hidden", "ink_hidden", "digit"):
        np.testing.assert_array_equal(getattr(again, track), getattr(video, track))
    assert (again.name, again.frame_shape) == (video.name, video.frame_shape)


@pytest.mark.parametrize(
    ("tensors", "sentence"),
    [
        ({"labels": np.full(7, 11)}, "labels must lie in 0 ... 10"),
        ({"labels": np.full(7, -1)}, "labels must lie in 0 ... 10"),
        ({"labels": np.zeros(7, np.int32)}, "labels must be an array of int64"),
        ({"labels": np.array(3)}, "labels must have one entry for each frame|unsized"),
        ({"labels": np.zeros(6, np.int64)}, "labels must have one entry for each frame"),
        ({"rows_hidden": np.full(7, 7, np.int16)}, "rows_hidden must lie in -1 ... 6"),
        ({"ink_hidden": np.full(7, np.inf, np.float32)}, "ink_hidden must lie in 0 ... 1"),
        ({"ink_hidden": np.full(7, -1, np.float32)}, "ink_hidden must lie in 0 ... 1"),
        ({"digit": np.full(7, -(2**63))}, "digit must lie in"),
        ({"frames": np.zeros((7, 30), np.uint8)}, "frames must have shape"),
        ({"frames": np.zeros((7, 0, 5), np.uint8)}, "frames must have shape"),
        ({"frames": np.zeros((7, 6, 5), np.float32)}, "frames must have dtype uint8"),
        ({"frames": np.array(3, np.uint8)}, "frames must have shape"),
        ({"frames": None}, "it must have the fields name, frames"),
    ],
)
def test_what_no_video_can_show_is_refused(tmp_path, tensors, sentence):
    save_video(a_video(), tmp_path / "v")
    forge(tmp_path / "v", arrays=tensors)
    with pytest.raises(DataError, match=sentence):
        load_video(tmp_path / "v")


@pytest.mark.parametrize("name", [None, "two\nlines", "\x1b[31mred", "x" * 501])
def test_a_name_that_cannot_be_shown_is_refused(tmp_path, name):
    save_video(a_video(), tmp_path / "v")
    forge(tmp_path / "v", record=lambda plain: plain | {"name": name})
    with pytest.raises(DataError, match=r"name must be|name: Expected `str`"):
        load_video(tmp_path / "v")


def test_a_video_that_is_replaced_while_it_is_followed_is_refused(tmp_path):
    save_video(a_video(), tmp_path / "v")
    video = load_video(tmp_path / "v")
    assert video.source(0, 3).shape == (3, 6, 5)
    save_video(a_video(9), tmp_path / "v")
    with pytest.raises(DataError, match="has changed since it was opened"):
        video.source(3, 6)
