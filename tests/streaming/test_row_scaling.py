"""Rows of any magnitude come into range, and nothing but their length changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from springback.streaming.row_scaling import LARGEST, SMALLEST, largest_entries, moderate

REACH = {np.float32: (-149, 127), np.float64: (-1074, 1023)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_a_row_times_a_power_of_two_comes_back_in_range_exactly(dtype, data):
    exponent = data.draw(st.integers(*REACH[dtype]))
    row = np.array([[1.0, -1.0, 0.0]], dtype)
    scaled = moderate(np.ldexp(row, exponent))
    assert SMALLEST <= largest_entries(scaled)[0] <= LARGEST
    np.testing.assert_array_equal(scaled / largest_entries(scaled)[:, None], row)


def test_rows_in_range_are_the_same_array_and_others_leave_it_alone():
    rows = np.array([[1.0, 255.0], [0.0, 0.0]])
    assert moderate(rows) is rows
    wild = np.array([[1e200, 2e200], [3.0, 4.0]])
    before = wild.copy()
    assert moderate(wild)[1].tolist() == [3.0, 4.0]
    np.testing.assert_array_equal(wild, before)


def test_no_rows_and_no_columns_are_fine():
    assert moderate(np.zeros((0, 3))).shape == (0, 3)
    assert moderate(np.zeros((2, 0))).shape == (2, 0)
