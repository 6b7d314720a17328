"""Your own images and frames from .npz files."""

import numpy as np
import pytest

from springback.check import DataError
from springback.data import own_file
from springback.data.own_file import load_frames_file, load_images_file, read_npz

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 3, 5), dtype=np.uint8)


def test_images_and_labels_of_any_kind_are_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", images=PIXELS, labels=["ant", "bee", "ant", "cat"], further=1)
    found = load_images_file(tmp_path / "a.npz")
    np.testing.assert_array_equal(found.pixels, PIXELS)
    assert found.labels.tolist() == ["ant", "bee", "ant", "cat"]
    np.savez(tmp_path / "b.npz", images=PIXELS.reshape(4, 15), labels=np.array([7, -2, 7, 30], np.int8))
    found = load_images_file(tmp_path / "b.npz")
    assert found.pixels.shape == (4, 1, 15)
    assert found.labels.tolist() == [7, -2, 7, 30]
    np.savez(tmp_path / "c.npz", frames=PIXELS)
    assert load_frames_file(tmp_path / "c.npz")[1] is None


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"images": PIXELS}, "must hold an array 'labels'; it holds images"),
        ({"images": PIXELS / 255, "labels": [1, 2, 3, 4]}, r"got float64: multiply by 255 and convert"),
        ({"images": PIXELS, "labels": [1, 2, 3]}, r"Images.labels must have shape \(4\)"),
        ({"images": PIXELS, "labels": [1, 2.5, 3, 4]}, r"Images.labels must be whole numbers or strings; got \[2.5\]"),
        ({"images": PIXELS, "labels": np.array([1, None, 3, 4], object)}, "not an .npz file of plain arrays"),
        ({"images": PIXELS[:0], "labels": []}, "with at least one image"),
    ],
)
def test_bad_images_and_labels_are_refused_and_never_dropped(arrays, message, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load_images_file(tmp_path / "a.npz")


def test_other_files_and_files_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    (tmp_path / "a.npz").write_bytes(b"PK no archive")
    with pytest.raises(DataError, match=r"not an \.npz file"):
        read_npz(tmp_path / "a.npz", needs=("times",))
    np.savez_compressed(tmp_path / "b.npz", times=np.zeros(10_000))
    monkeypatch.setattr(own_file, "LARGEST_FILE", 5_000)
    with pytest.raises(DataError, match="must unpack to at most 5,000 bytes"):
        read_npz(tmp_path / "b.npz", needs=("times",))
