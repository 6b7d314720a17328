import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from springback_studio.inputs import PAD_SIDE, fitted


def rectangle(top, left, height, width):
    drawing = np.zeros((PAD_SIDE, PAD_SIDE), np.uint8)
    drawing[top : top + height, left : left + width] = 255
    return drawing


def centre_of_mass(frame):
    return [(np.arange(28) + 0.5) @ frame.sum(axis=axis, dtype=float) / frame.sum() for axis in (1, 0)]


@settings(max_examples=50, deadline=None)
@given(top=st.integers(0, 60), left=st.integers(0, 60), height=st.integers(4, 50), width=st.integers(4, 50))
def test_a_drawing_is_centred_and_twenty_pixels_long_wherever_it_was_drawn(top, left, height, width):
    frame = fitted(rectangle(top, left, height, width))
    lit = [int(frame.any(axis=axis).sum()) for axis in (1, 0)]
    assert max(lit) == 20
    assert all(abs(at - 14) <= 0.5 + 1e-9 for at in centre_of_mass(frame))


def test_shrinking_averages_over_area():
    drawing = np.zeros((PAD_SIDE, PAD_SIDE), np.uint8)
    drawing[:80, :80] = np.kron(np.indices((20, 20)).sum(axis=0) % 2, np.ones((4, 4))) * 200 + 50
    inside = fitted(drawing)[4:24, 4:24]
    expected = drawing[:80, :80].reshape(20, 4, 20, 4).mean(axis=(1, 3))
    assert np.abs(inside - expected * 255 / expected.max()).max() <= 0.5


def test_an_empty_pad_is_an_empty_frame():
    assert not fitted(np.zeros((PAD_SIDE, PAD_SIDE), np.uint8)).any()


def test_a_single_point_becomes_a_spot_in_the_middle():
    frame = fitted(rectangle(3, 100, 1, 1))
    assert frame[4:24, 4:24].all()
    assert frame.sum() == 400 * 255


def test_a_drawing_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"drawing must have shape \(112, 112\)"):
        fitted(np.zeros((28, 28), np.uint8))
