"""OMNIST, frame by frame as the Methods say."""

import hashlib
import resource

import numpy as np
import pytest

from springback.data import NoiseObject, Occluder, Omnist, load_mnist, load_video, make_omnist, noise_frames, save_video
from springback.data.omnist import OMNIST_VERSION
from springback.streaming.records import NOISE_LABEL, Images

ROWS = [0, 3, 6, 9, 12, 15, 18, 19, 19, 19, 19, 19, 19, 19]


@pytest.fixture(scope="module")
def digits():
    return load_mnist("test")[:600]


@pytest.fixture(scope="module")
def video(digits):
    return make_omnist(digits, seed=5)


def subsequences(video):
    """(digit index, first frame, number of digit frames) of every digit."""
    starts = np.flatnonzero(video.rows_hidden == 0)
    for number, start in enumerate(starts):
        end = start + np.argmax(video.labels[start:] == NOISE_LABEL)
        yield number, start, end - start


def test_each_digit_is_hidden_from_the_top_on_the_paper_schedule(digits, video):
    for number, start, n_frames in subsequences(video):
        assert 11 <= n_frames <= 14
        np.testing.assert_array_equal(video.rows_hidden[start : start + n_frames], ROWS[:n_frames])
        for step in range(n_frames):
            expected = digits.pixels[number].copy()
            expected[: ROWS[step]] = 0
            np.testing.assert_array_equal(video.frames[start + step], expected)
        assert (video.digit[start : start + n_frames] == number).all()
        assert (video.labels[start : start + n_frames] == digits.labels[number]).all()


def test_a_seed_gives_the_same_bytes_on_every_machine(video):
    assert OMNIST_VERSION == 2  # A change of these bytes is a new version.
    assert hashlib.sha256(video.frames.tobytes()).hexdigest() == (
        "94f3852d726ab0f184e0fcf5b18b43dfcd67522c97018fd29ad06dec8574e38e"
    )


def test_four_noise_frames_follow_each_digit(video):
    for _, start, n_frames in subsequences(video):
        after = slice(start + n_frames, start + n_frames + 4)
        assert (video.labels[after] == NOISE_LABEL).all()
        assert (video.rows_hidden[after] == -1).all()
        assert (video.digit[after] == -1).all()
        assert np.isnan(video.ink_hidden[after]).all()
    assert (video.labels == NOISE_LABEL).sum() == 4 * 600


def test_the_number_of_frames_is_uniform_from_11_to_14(video):
    counts = np.bincount([n for _, _, n in subsequences(video)], minlength=15)[11:15]
    assert counts.sum() == 600
    assert ((counts - 150) ** 2 / 150).sum() < 16.3  # chi-square, 3 degrees of freedom, p = 0.001


def test_noise_lies_in_the_central_rectangle_and_is_fresh_in_every_frame(video):
    noise = video.frames[video.labels == NOISE_LABEL]
    inside = np.zeros((28, 28), bool)
    inside[8:20, 6:21] = True
    assert not noise[:, ~inside].any()
    assert (noise > 0)[:, inside].mean(axis=0).min() > 0.2
    lit = (noise > 0).sum(axis=(1, 2))
    expected = 200 * 180 / 784 * 255 / 256
    assert abs(lit.mean() - expected) < 4 * lit.std() / np.sqrt(len(lit))
    # Without replacement the count is hypergeometric: its variance is smaller than the binomial's.
    variance = 200 * (180 / 784) * (604 / 784) * (584 / 783)
    assert abs(lit.var() / variance - 1) < 0.15
    assert len(np.unique(noise.reshape(len(noise), -1), axis=0)) == len(noise)
    values = noise[noise > 0].astype(float)
    assert abs(values.mean() - 128) < 1.5
    assert values.max() == 255


def test_noise_pixels_drawn_with_replacement_are_fewer_and_as_bright():
    again = NoiseObject(with_replacement=True)
    noise = noise_frames(2000, seed=1, params=again)
    lit = (noise > 0).sum(axis=(1, 2))
    expected = 180 * (1 - (1 - 1 / 784) ** 200) * 255 / 256
    assert abs(lit.mean() - expected) < 4 * lit.std() / np.sqrt(len(lit))
    assert lit.mean() < 0.93 * (noise_frames(2000, seed=1) > 0).sum(axis=(1, 2)).mean()
    assert not noise[:, ~again.rectangle((28, 28))].any()
    assert abs(noise[noise > 0].astype(float).mean() - 128) < 1.5
    assert noise_frames(1, seed=0, params=NoiseObject(candidates=5000, with_replacement=True)).any()


def test_noise_is_the_same_in_whatever_order_it_is_asked_for(digits, video):
    again = make_omnist(digits, seed=5)
    for start in (7000, 300, 9000, 310):
        np.testing.assert_array_equal(again.source(start, start + 50), video.frames[start : start + 50])


def test_ink_hidden_is_the_covered_share_of_the_brightness(digits, video):
    for number, start, _ in list(subsequences(video))[:20]:
        ink = digits.pixels[number].astype(float)
        assert video.ink_hidden[start + 4] == pytest.approx(ink[:12].sum() / ink.sum(), abs=1e-6)


@pytest.mark.parametrize("size", [1000, 4096, 7777])
def test_chunks_are_exactly_the_whole(digits, video, size):
    pieces = list(make_omnist(digits, seed=5).chunks(size))
    np.testing.assert_array_equal(np.concatenate([piece.frames for piece in pieces]), video.frames)


def test_same_seed_same_bytes_other_seed_other_bytes(digits, video):
    again = make_omnist(digits, seed=5)
    assert again.name == video.name
    np.testing.assert_array_equal(again.frames, video.frames)
    other = make_omnist(digits, seed=6)
    assert other.name != video.name
    assert len(other) != len(video) or (other.frames != video.frames).any()


def test_other_images_or_parameters_have_another_name(digits, video):
    assert make_omnist(digits[:10], seed=5).name != video.name
    assert make_omnist(digits, seed=5, params=Omnist(frames_max=15)).name != video.name


def test_the_full_test_video_has_about_165_000_frames():
    assert abs(len(make_omnist(load_mnist("test"), seed=0)) - 165_000) < 600


def test_the_training_video_is_iterated_in_little_memory():
    video = make_omnist(load_mnist("train"), seed=0)
    assert abs(len(video) - 990_000) < 1500
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total = sum(len(chunk.frames) for chunk in video.stretch(0, 100_000).chunks(8192))
    assert total == 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


@pytest.mark.parametrize("direction", ["down", "up", "left", "right"])
def test_the_occluder_comes_from_the_side_opposite_to_its_direction(direction):
    seen = Occluder(direction=direction).visible(3, (28, 28))[1]
    hidden = np.argwhere(~seen)
    axis, edge = {"down": (0, 0), "up": (0, 25), "right": (1, 0), "left": (1, 25)}[direction]
    assert len(hidden) == 3 * 28
    assert hidden[:, axis].min() == edge


def test_a_short_occluder_uncovers_what_it_has_passed():
    seen = Occluder(length=5, stop_at=28, slow_from=28).visible(6, (28, 28))
    np.testing.assert_array_equal((~seen).any(axis=2).sum(axis=1), [0, 3, 5, 5, 5, 5])


def test_images_of_another_size_make_a_video():
    images = Images(np.full((3, 32, 40), 7, np.uint8), np.arange(3))
    video = make_omnist(images, seed=1, params=Omnist(occluder=Occluder(direction="right", stop_at=40, slow_from=40)))
    assert video.frames.shape[1:] == (32, 40)
    assert video.rows_hidden.max() == 3 * (max(n for _, _, n in subsequences(video)) - 1)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Occluder(stop_at=29).visible(3, (28, 28)), r"Occluder.stop_at must be <= 28"),
        (lambda: Occluder(span=(3, 30)).visible(3, (28, 28)), r"Occluder.span must lie within"),
        (lambda: Occluder(span=(5, 3)), r"Occluder.span\[1\] must be >= 5"),
        (lambda: Occluder(direction="sideways"), r"Occluder.direction must be one of"),
        (lambda: Occluder(speed=-1), r"Occluder.speed must be >= 0"),
        (lambda: Omnist(frames_min=5, frames_max=4), r"Omnist.frames_max must be >= 5"),
        (lambda: NoiseObject(high=256), r"NoiseObject.high must be <= 255"),
        (lambda: NoiseObject(with_replacement=1), r"NoiseObject.with_replacement must be True or False; got 1"),
        (lambda: noise_frames(1, seed=0, params=NoiseObject(width=29)), r"NoiseObject.width must be <= 28"),
        (lambda: noise_frames(1, seed=0, params=NoiseObject(candidates=785)), r"NoiseObject.candidates must be <= 784"),
        (
            lambda: make_omnist(Images(np.zeros((1, 28, 28), np.uint8), np.zeros(1, np.int64)), seed=-1),
            "seed must be >= 0",
        ),
    ],
)
def test_bad_geometry_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_an_empty_image_set_makes_an_empty_video():
    assert len(make_omnist(Images(np.zeros((0, 28, 28), np.uint8), np.zeros(0, np.int64)))) == 0


def test_a_video_comes_back_from_disk_unchanged(tmp_path, digits):
    video = make_omnist(digits[:40], seed=2)
    written = []
    save_video(video, tmp_path / "v.safetensors", on_frames=written.append)
    again = load_video(tmp_path / "v.safetensors")
    assert sum(written) == len(video)
    assert again.name == video.name
    np.testing.assert_array_equal(again.frames, video.frames)
    np.testing.assert_array_equal(again.stretch(7, 90).frames, video.frames[7:90])
    for track in ("labels", "rows_hidden", "ink_hidden", "digit"):
        np.testing.assert_array_equal(getattr(again, track), getattr(video, track))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.array([1, 10]), "images.labels must leave 10 to the noise"),
        (np.array(["a", "b"]), "images.labels must be whole numbers"),
    ],
)
def test_labels_that_a_video_cannot_hold_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_omnist(Images(np.zeros((2, 28, 28), np.uint8), labels))
