"""Noise made of digits."""

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.streaming.records import NOISE_LABEL
from springback_paper.inputs.scrambled_noise import scramble, with_scrambled_noise


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")[:60]


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_share_of_the_pixels_of_the_middle_changes_places_and_none_is_lost(share):
    numbered = np.arange(784, dtype=np.int64).reshape(1, 28, 28).repeat(200, axis=0)
    mixed = scramble(numbered, share, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(mixed.reshape(200, -1), axis=1), numbered.reshape(200, -1))
    moved = mixed != numbered
    assert not moved[:, :4].any()
    assert not moved[:, 24:].any()
    assert not moved[:, :, :4].any()
    assert not moved[:, :, 24:].any()
    assert moved[:, 4:24, 4:24].mean() == pytest.approx(share, abs=0.02)
    assert len(np.unique(mixed.reshape(200, -1), axis=0)) == (200 if share else 1)


def test_only_noise_frames_are_replaced_each_by_a_digit_of_its_own(digits):
    plain = make_omnist(digits, seed=3)
    video = with_scrambled_noise(plain, digits, share=0.0, seed=4)
    noisy = plain.labels == NOISE_LABEL
    np.testing.assert_array_equal(video.frames[~noisy], plain.frames[~noisy])
    known = {digit.tobytes() for digit in digits.pixels}
    assert all(frame.tobytes() in known for frame in video.frames[noisy])
    assert len(np.unique(video.frames[noisy].reshape(noisy.sum(), -1), axis=0)) > 30
    np.testing.assert_array_equal(video.labels, plain.labels)
    assert video.name != plain.name


def test_parts_of_the_video_are_those_of_the_whole_and_a_seed_gives_the_same(digits):
    make = lambda seed: with_scrambled_noise(make_omnist(digits, seed=3), digits, share=0.5, seed=seed)  # noqa: E731
    whole = make(1).frames
    np.testing.assert_array_equal(make(1).source(123, 321), whole[123:321])
    assert (make(2).frames != whole).any()


def test_a_share_beyond_all_pixels_is_refused(digits):
    with pytest.raises(ValueError, match=r"share must be <= 1; got 1.5"):
        scramble(digits.pixels, 1.5, np.random.default_rng(0))
