"""Ways in which a picture is corrupted."""

import numpy as np
import pytest

from springback_bench.stream_sets.corruption import CORRUPTIONS, corrupted

SEVERITIES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)


@pytest.fixture
def picture():
    """Smooth colours with edges and fine detail."""
    rows, columns = np.mgrid[:32, :32] / 31
    smooth = np.stack([rows, columns, 1 - rows], axis=2)
    smooth[7:19, 11:26] = (0.9, 0.2, 0.1)
    detail = np.random.default_rng(3).normal(0, 0.1, (32, 32, 1))
    return np.rint(255 * np.clip(smooth + detail, 0, 1)).astype(np.uint8)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_each_corruption_grows_with_its_severity(picture, kind):
    changes = []
    for severity in SEVERITIES:
        found = corrupted(picture, kind, severity, np.random.default_rng(0))
        assert found.dtype == np.uint8
        assert found.shape == picture.shape
        changes.append(np.mean((found.astype(float) - picture) ** 2))
    assert changes[0] == 0
    assert (np.diff(changes) > 0).all()


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_the_input_is_not_changed(picture, kind):
    before = picture.copy()
    corrupted(picture, kind, 1.0, np.random.default_rng(0))
    np.testing.assert_array_equal(picture, before)


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_corruptions_follow_from_the_seed(picture, kind):
    first, second = (corrupted(picture, kind, 0.7, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_impulses_are_black_or_full(picture):
    found = corrupted(picture, "impulse noise", 1.0, np.random.default_rng(0))
    other = found[found != picture]
    assert set(other.tolist()) == {0, 255}
    assert 0.1 < (found != picture).mean() <= 0.25


def test_pixels_become_squares_of_five(picture):
    found = corrupted(picture, "pixelate", 1.0, np.random.default_rng(0))
    squares = found[:30, :30].reshape(6, 5, 6, 5, 3)
    assert (squares == squares[:, :1, :, :1]).all()
    assert found[0, 0, 0] == pytest.approx(picture[:5, :5, 0].mean(), abs=0.5)


def test_low_contrast_and_blur_keep_the_mean_colour(picture):
    for kind in ("contrast", "pixelate"):
        found = corrupted(picture, kind, 1.0, np.random.default_rng(0))
        np.testing.assert_allclose(found.mean(axis=(0, 1)), picture.mean(axis=(0, 1)), atol=1)
