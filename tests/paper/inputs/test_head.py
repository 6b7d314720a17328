"""The rotating head: a picture of a head that turns, black around it, mirror-symmetric, continuous in the angle."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numba import njit
from scipy.ndimage import binary_fill_holes

from springback_paper.inputs.head import FAR_Z, NEAR_Z, ray_depth, render_head, rotating_head
from springback_paper.inputs.head_shape import hair_distance, skin_distance


@pytest.fixture(scope="module")
def front():
    return render_head(0.0, size=64).astype(float)


@pytest.fixture(scope="module")
def large_front():
    return render_head(0.0, size=256).astype(float)


@pytest.fixture(scope="module")
def profile():
    return render_head(90.0, size=64).astype(float)


def mean_difference(a, b):
    return float(np.abs(np.asarray(a, float) - np.asarray(b, float)).mean())


def test_a_picture_is_square_and_uint8():
    picture = render_head(30.0, size=40)
    assert picture.shape == (40, 40)
    assert picture.dtype == np.uint8


@pytest.mark.parametrize("size", [1, 7, 28, 33, 90])
def test_any_resolution_can_be_drawn(size):
    picture = render_head(20.0, size=size)
    assert picture.shape == (size, size)
    assert picture.max() > 60


def test_resolutions_show_the_same_head():
    fine = render_head(35.0, size=128).astype(float)
    coarse = render_head(35.0, size=32).astype(float)
    averaged = ((fine / 255) ** 1.7).reshape(32, 4, 32, 4).mean((1, 3)) ** (1 / 1.7) * 255
    assert mean_difference(averaged, coarse) < 2.5


def test_the_background_is_black_and_the_head_is_not(front, profile):
    for picture in (front, profile):
        assert (picture[:6] == 0).mean() > 0.55
        assert (picture[:, 0] == 0).all()
        assert (picture[:, -1] == 0).all()
        assert 0.25 < (picture > 0).mean() < 0.6
        assert 90 < picture[picture > 0].mean() < 200


@pytest.mark.parametrize("yaw_deg", [0.0, 30.0, 60.0, 90.0, 180.0])
def test_the_head_is_in_one_piece_and_has_no_holes(yaw_deg):
    silhouette = render_head(yaw_deg, size=96) > 0
    assert (binary_fill_holes(silhouette) == silhouette).all()


def test_the_front_view_is_its_own_mirror_image(front):
    assert mean_difference(front, front[:, ::-1]) < 0.01


def test_the_profile_is_not_its_own_mirror_image(profile):
    assert mean_difference(profile, profile[:, ::-1]) > 20


def test_a_mirrored_turn_gives_the_mirrored_picture():
    left, right = render_head(-37.0, size=48).astype(int), render_head(37.0, size=48).astype(int)
    assert np.abs(left[:, ::-1] - right).max() <= 1


def test_a_full_turn_comes_back():
    assert mean_difference(render_head(360.0, size=32), render_head(0.0, size=32)) < 0.05


def test_positive_yaw_turns_the_nose_to_the_right(profile):
    nose_rows = profile[36:42]
    rightmost = max(np.flatnonzero(row)[-1] for row in nose_rows)
    forehead_right = np.flatnonzero(profile[20])[-1]
    assert rightmost > forehead_right


def test_the_profile_shows_forehead_nose_lips_and_chin():
    outline = [np.flatnonzero(row)[-1] for row in render_head(90.0, size=256)[60:228] if row.any()]
    forward = np.asarray(outline, float)
    tip = int(forward.argmax())
    assert 85 < tip < 115
    below = forward[tip + 5 : 150]
    bumps = [i for i in range(2, len(below) - 2) if below[i] > below[i - 2] and below[i] >= below[i + 1 : i + 6].max()]
    assert len(bumps) >= 2
    assert forward[tip] - forward[:60].max() > 8


def test_the_front_shows_two_dark_brows_and_eyes_and_a_dark_mouth(large_front):
    picture = large_front
    to_row = lambda y: int(128 - (y + 0.03) / 1.27 * 128)  # noqa: E731
    to_column = lambda x: int(128 + x / 1.27 * 128)  # noqa: E731
    cheek = picture[to_row(-0.25), to_column(0.42)]
    for side in (-1, 1):
        brow = picture[to_row(0.20), to_column(side * 0.25)]
        pupil = picture[to_row(0.0), to_column(side * 0.275)]
        white = picture[to_row(0.0), to_column(side * 0.275) - 9 : to_column(side * 0.275) + 10].max()
        assert brow < 0.6 * cheek
        assert pupil < 0.35 * cheek
        assert white > 2 * pupil
    assert picture[to_row(-0.60) - 2 : to_row(-0.60) + 3, 128].min() < 0.6 * cheek
    assert picture[to_row(0.9), 128] < 0.7 * picture[to_row(0.5), 128]


def test_the_front_shows_two_ears_that_stick_out_beyond_the_hair(large_front):
    reach = [np.flatnonzero(large_front[row]) for row in (74, 130)]
    hair, ears = ((128 - columns[0], columns[-1] - 127) for columns in reach)
    assert ears[0] > hair[0] + 3
    assert ears[1] > hair[1] + 3


def test_neighbouring_frames_differ_little_and_the_ends_much():
    video = rotating_head(n_frames=30, size=32)
    steps = [mean_difference(a, b) for a, b in pairwise(video)]
    ends = mean_difference(video[0], video[-1])
    assert max(steps) < 0.25 * ends
    assert max(steps) < 3 * np.median(steps)
    assert ends > 20


def test_a_smaller_turn_changes_less():
    start = render_head(45.0, size=48)
    quarter, one, four = (mean_difference(start, render_head(45.0 + turn, size=48)) for turn in (0.25, 1.0, 4.0))
    assert quarter < 0.5 * one
    assert one < 0.5 * four
    assert quarter < 0.6


def test_a_video_starts_and_ends_where_it_should():
    video = rotating_head(n_frames=4, size=32, from_deg=60.0, to_deg=-30.0)
    assert video.shape == (4, 32, 32)
    assert video.dtype == np.uint8
    for frame, yaw in zip(video, (60.0, 30.0, 0.0, -30.0), strict=True):
        assert (frame == render_head(yaw, size=32)).all()


def test_the_default_video_turns_from_profile_to_front():
    video = rotating_head(n_frames=2, size=32)
    assert (video[0] == render_head(90.0, size=32)).all()
    assert (video[1] == render_head(0.0, size=32)).all()


def test_drawing_twice_gives_the_same_bits():
    assert (render_head(12.5, size=32) == render_head(12.5, size=32)).all()


def test_the_shape_is_its_own_mirror_image():
    rng = np.random.default_rng(5)
    for x, y, z in rng.uniform(-1.1, 1.1, (200, 3)):
        assert skin_distance(x, y, z) == skin_distance(-x, y, z)
        assert hair_distance(x, y, z) == hair_distance(-x, y, z)


@njit
def first_point_inside(u, v, cos, sin, step):
    depth = NEAR_Z
    while depth > FAR_Z:
        x, z = cos * u - sin * depth, sin * u + cos * depth
        if min(skin_distance(x, v, z), hair_distance(x, v, z)) < 0.0015:
            return depth
        depth -= step
    return -np.inf


@pytest.mark.parametrize("yaw_deg", [0.0, 50.0, 90.0])
def test_rays_stop_where_a_scan_in_tiny_steps_first_meets_the_head(yaw_deg):
    cos, sin = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    rays = np.random.default_rng(7).uniform(-1.2, 1.2, (2000, 2))
    marched = np.array([ray_depth(u, v, cos, sin) for u, v in rays])
    scanned = np.array([first_point_inside(u, v, cos, sin, 0.002) for u, v in rays])
    both = (marched > FAR_Z) & np.isfinite(scanned)
    assert ((marched > FAR_Z) == np.isfinite(scanned)).mean() > 0.995
    assert both.sum() > 500
    assert (np.abs(marched - scanned)[both] < 0.01).mean() > 0.99


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"yaw_deg": float("nan")}, ValueError, "yaw_deg must be finite"),
        ({"yaw_deg": "left"}, TypeError, "yaw_deg must be a number"),
        ({"yaw_deg": 0.0, "size": 0}, ValueError, "size must be >= 1; got 0"),
        ({"yaw_deg": 0.0, "size": 32.0}, TypeError, "size must be a whole number"),
    ],
)
def test_a_bad_picture_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        render_head(**arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"n_frames": 0}, ValueError, "n_frames must be >= 1; got 0"),
        ({"n_frames": 2.5}, TypeError, "n_frames must be a whole number"),
        ({"from_deg": float("inf")}, ValueError, "from_deg must be finite"),
        ({"to_deg": None}, TypeError, "to_deg must be a number"),
        ({"size": -4}, ValueError, "size must be >= 1; got -4"),
    ],
)
def test_a_bad_video_is_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        rotating_head(**arguments)
