"""Video and sound: made here with real encoders, and followed as `track` follows what they contain."""

import numpy as np
import pytest

from springback.check import DataError
from springback.live import SourceOptions, open_source
from springback.live.preparation import Pictures, Sound, preparation_of
from springback.live.resizing import resized
from tests.live.conftest import HeadFollower, new_head, posteriors

PICTURES = Pictures(height=6, width=6, channels="rgb", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5), fit="crop")
SOUND = Sound(rate_hz=8000, window=800, hop=400)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Two seconds of stereo noise whose loudness changes, at 8,000 Hz."""
    soundfile = pytest.importorskip("soundfile", reason="the extra audio is not installed")
    path = tmp_path_factory.mktemp("sound") / "talk.wav"
    noise = np.random.default_rng(0).uniform(-0.5, 0.5, (16_000, 2)) * np.linspace(0.1, 1, 16_000)[:, None]
    soundfile.write(path, noise, 8000, subtype="PCM_16")
    return path


def decoded(path):
    import av

    with av.open(str(path)) as file:
        return np.stack([one.to_ndarray(format="rgb24") for one in file.decode(video=0)])


def test_a_video_is_followed_as_track_follows_its_pictures(video):
    prepared = PICTURES.prepare(decoded(video)).reshape(30, -1)
    found = posteriors(open_source(str(video)), HeadFollower(new_head(108), PICTURES))
    assert (found == new_head(108).track(prepared)).all()


def test_the_time_of_a_picture_is_in_seconds(video):
    with open_source(str(video), SourceOptions(every=10)) as source:
        found = [one for one in iter(source.read, None) if len(one)]
    assert [one.stamps[0] for one in found] == [0.0, 1.0, 2.0]


def test_sound_is_followed_as_track_follows_its_windows(recording):
    import soundfile

    samples = soundfile.read(recording, dtype="float32")[0].mean(axis=1, dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(samples, 800)[::400]
    options = SourceOptions(window_s=0.1, hop_s=0.05, rate_hz=8000)
    found = posteriors(open_source(str(recording), options), HeadFollower(new_head(800), SOUND))
    assert len(found) == 39
    assert (found == new_head(800).track(windows)).all()


def test_the_time_of_a_window_is_that_of_its_end(recording):
    with open_source(str(recording), SourceOptions(window_s=0.1, hop_s=0.05)) as source:
        found = [one.stamps[0] for one in iter(source.read, None) if len(one)]
    assert found[:3] == [0.1, 0.15, 0.2]


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({}, "give their length in seconds"),
        ({"window_s": 1.0, "rate_hz": 16_000}, "has 8,000 samples per second, and 16,000 are wanted: convert it"),
        ({"window_s": 1.0, "hop_s": 2.0}, "hop_s must be <= 1"),
    ],
)
def test_sound_that_does_not_fit_is_refused(options, part, recording):
    with pytest.raises(ValueError, match=part):
        open_source(str(recording), SourceOptions(**options))


def test_a_model_refuses_what_it_does_not_take(video, recording):
    rows = HeadFollower(new_head(4))
    with pytest.raises(DataError, match="takes frames of 4 numbers and the source gives pictures"):
        posteriors(open_source(str(video)), rows)
    with pytest.raises(DataError, match="the network takes pictures, and the source gives sound"):
        posteriors(open_source(str(recording), SourceOptions(window_s=0.1)), HeadFollower(new_head(108), PICTURES))
    with pytest.raises(DataError, match=r"takes windows of 800 samples, and the source gives sound of 1600"):
        posteriors(open_source(str(recording), SourceOptions(window_s=0.2)), HeadFollower(new_head(800), SOUND))


@pytest.mark.parametrize("name", ["clip.mp4", "talk.wav"])
def test_a_damaged_file_is_one_sentence(name, tmp_path):
    pytest.importorskip("av")
    pytest.importorskip("soundfile")
    (tmp_path / name).write_bytes(b"rubbish" * 100)
    with pytest.raises(DataError, match="cannot be read as"):
        open_source(str(tmp_path / name), SourceOptions(window_s=1.0))


def test_a_camera_that_is_not_there_is_one_sentence():
    pytest.importorskip("av")
    with pytest.raises(DataError, match=r"the camera .* cannot be opened"):
        open_source("camera:/dev/nothing")


def test_pictures_are_cut_or_stretched_and_keep_their_order_of_channels():
    wide = np.zeros((1, 2, 6, 3), np.uint8)
    wide[:, :, 2:4] = (255, 0, 51)
    small = {"height": 2, "width": 2, "mean": (0.0,) * 3, "std": (1.0,) * 3}
    cut = Pictures(channels="rgb", fit="crop", **small).prepare(wide)
    assert np.allclose(cut[0, :, 0, 0], [1, 0, 0.2])
    assert np.allclose(Pictures(channels="bgr", fit="crop", **small).prepare(wide)[0, :, 0, 0], [0.2, 0, 1])
    assert Pictures(channels="rgb", fit="stretch", **small).prepare(wide)[0, 0].max() < 0.6


def test_resizing_keeps_a_plain_picture_plain_and_the_mean_of_any_other():
    rng = np.random.default_rng(0)
    assert np.allclose(resized(np.full((1, 7, 9, 3), 17, np.uint8), 3, 20), 17)
    noise = rng.uniform(0, 255, (1, 64, 64, 1))
    assert abs(resized(noise, 8, 8).mean() - noise.mean()) < 5
    assert np.allclose(resized(noise, 8, 8)[0, 3, 4, 0], _triangle(noise[0, :, :, 0], 3, 4), rtol=1e-5)


def _triangle(picture, row, column):
    """The weighted mean of all pixels within 8 of the middle of a block of 8 x 8."""
    weights = [np.maximum(0, 1 - np.abs(np.arange(64) - (8 * one + 3.5)) / 8) for one in (row, column)]
    both = np.outer(*weights)
    return (both * picture).sum() / both.sum()


@pytest.mark.parametrize(
    ("shape", "stored", "told", "part"),
    [
        (
            (3, 8, 8),
            None,
            {"fit": "crop"},
            "does not say how pictures are scaled: give the mean",
        ),
        ((5, 8, 8), None, {"mean": [0.5], "std": [0.5]}, "not pictures with 1 or 3 channels"),
        ((3, 8, 8), None, {"mean": [0.5], "std": [0.5]}, "mean must be 3, one for each channel"),
        ((3, 8, 8), {"kind": "sound", "rate_hz": 9, "window": 5, "hop": 5}, {}, "takes frames of shape"),
        ((5,), {"kind": "sound", "rate_hz": 9, "window": 5, "hop": 5}, {"rate_hz": 8}, "says rate_hz = 9; leave"),
    ],
)
def test_a_preparation_that_cannot_be_right_is_refused(shape, stored, told, part):
    with pytest.raises(ValueError, match=part):
        preparation_of("net.onnx", shape, stored, told)


def test_a_preparation_is_read_from_the_file_or_from_the_user():
    stored = {"kind": "pictures", "height": 6, "width": 6, "channels": "rgb", "fit": "crop"}
    scale = {"mean": [0.5] * 3, "std": [0.5] * 3}
    assert preparation_of("n", (3, 6, 6), stored | scale, {}) == PICTURES
    assert preparation_of("n", (3, 6, 6), None, scale) == PICTURES
    grey = preparation_of("n", (6, 5), None, {"mean": [0.0], "std": [1.0]})
    assert (grey.channels, grey.height, grey.width) == ("grey", 6, 5)
    assert preparation_of("n", (800,), None, {"rate_hz": 8000, "hop": 400}) == SOUND
