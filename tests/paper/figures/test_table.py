"""Tables of numbers, and their CSV files."""

import csv
import io

import numpy as np
import pytest

from springback_paper.figures.table import csv_text, pictures, stacked, tidy, write_csv


def read(text):
    """The columns of a CSV text, as strings."""
    header, *rows = csv.reader(io.StringIO(text))
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_read_back_are_the_numbers_written(dtype):
    values = np.random.default_rng(0).normal(size=60).astype(dtype) * dtype(10.0) ** np.arange(-30, 30, dtype=dtype)
    again = np.array(read(csv_text({"value": values}))["value"], dtype)
    np.testing.assert_array_equal(again, values)


def test_each_combination_of_the_axes_has_its_own_value():
    shape = (2, 3, 4)
    values = np.arange(24).reshape(shape)
    table = tidy({"a": [10, 20], "b": ["x", "y", "z"], "c": range(4)}, {"value": values, "of_a": values[:, :1, :1]})
    for a, b, c, value, of_a in zip(*table.values(), strict=True):
        at = (a // 10 - 1, "xyz".index(b), c)
        assert value == values[at]
        assert of_a == values[at[0], 0, 0]


def test_a_picture_is_read_by_rows_from_the_top():
    shown = np.arange(12).reshape(2, 2, 3)
    table = pictures("brightness", shown, {"frame": [5, 6]}, label=np.array([7, 8])[:, None, None])
    for frame, row, column, label, value in zip(*table.values(), strict=True):
        assert value == shown[frame - 5, row, column]
        assert label == frame + 2


def test_panels_have_their_own_columns_and_empty_cells_elsewhere():
    text = csv_text(stacked({"top": {"x": [1], "y": [2.5]}, "bottom": {"y": [3.5], "flag": [True]}}))
    assert text == "panel,x,y,flag\ntop,1,2.5,\nbottom,,3.5,1\n"


def test_missing_numbers_are_empty_and_commas_are_quoted():
    assert csv_text({"a": [np.nan, None], "b": ["x, y", "z"]}) == 'a,b\n,"x, y"\n,z\n'


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="the table of a figure must have at least one row; got 'none'"):
        csv_text({"a": []})


def test_a_file_has_the_bytes_of_the_text(tmp_path):
    table = {"angle_deg": np.linspace(0, 1, 7), "name": ["β"] * 7}
    write_csv(table, tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_bytes() == csv_text(table).encode()
