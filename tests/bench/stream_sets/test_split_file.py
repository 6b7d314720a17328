"""Splits on disk: what comes out is what went in, or it is refused."""

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets import Head, Stream, StreamSplit
from springback_bench.stream_sets.split_file import SplitSizes, load_split, read_sizes, save_split
from tests.files.forging import forge

PARTS = ("features", "labels", "times", "objects")


@pytest.fixture
def split():
    rng = np.random.default_rng(0)

    def stream(length):
        return Stream(
            features=rng.normal(size=(length, 3)).astype(np.float32),
            labels=rng.integers(-1, 2, length),
            times=np.cumsum(rng.uniform(0.1, 1, length)),
            objects=np.arange(length),
        )

    head = Head(weight=np.eye(2, 3, dtype=np.float32), bias=np.ones(2, np.float32), centre=np.zeros(3, np.float32))
    return StreamSplit(name="x", split=1, head=head, validation=(stream(4), stream(5)), test=(stream(6),))


@pytest.fixture
def path(split, tmp_path):
    save_split(split, tmp_path / "x-1.safetensors", version=2)
    return tmp_path / "x-1.safetensors"


def test_a_split_comes_back_as_it_was(split, path):
    found = load_split(path, "x", 1, version=2)
    assert (found.name, found.split) == ("x", 1)
    np.testing.assert_array_equal(found.head.weight, split.head.weight)
    for part in ("validation", "test"):
        pairs = zip(getattr(found, part), getattr(split, part), strict=True)
        for got, put in pairs:
            assert all(np.array_equal(getattr(got, name), getattr(put, name)) for name in PARTS)


def test_sizes_are_read_without_the_arrays(path):
    assert read_sizes(path, "x", 1, version=2) == SplitSizes(validation=9, test=6, classes=2)


@pytest.mark.parametrize("read", [load_split, read_sizes])
@pytest.mark.parametrize(
    ("name", "number", "version", "part"),
    [
        ("y", 1, 2, "must be of name y; it says 'x'"),
        ("x", 0, 2, "must be of split 0; it says '1'"),
        ("x", 1, 3, "must be of version 3; it says '2'"),
    ],
)
def test_a_split_of_something_else_is_refused(read, name, number, version, part, path):
    with pytest.raises(DataError) as caught:
        read(path, name, number, version=version)
    assert part in str(caught.value)


@pytest.mark.parametrize("read", [load_split, read_sizes])
def test_a_damaged_file_is_refused(read, path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="damaged"):
        read(path, "x", 1, version=2)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"arrays": {"split.test.0.labels": None}}, "split.test.0 must have the fields"),
        ({"arrays": {"split.head.bias": None}}, "split.head must have the fields"),
        ({"arrays": {"split.test.1.labels": np.zeros(2)}}, "hold no arrays that its record does not name"),
        ({"arrays": {"split.test.0.labels": np.zeros(2)}}, "labels must be an array of int64"),
        ({"arrays": {"split.test.0.labels": np.zeros(2, np.int64)}}, "Stream.labels"),
        ({"record": lambda plain: plain | {"version": "new"}}, "version: Expected `int`"),
        ({"record": lambda plain: plain["split"].update(test=[])}, "StreamSplit.test must hold a stream"),
        ({"record": lambda plain: plain["split"].update(test="many")}, "split.test must be"),
    ],
)
def test_a_file_with_other_content_is_refused_although_its_digest_is_right(change, part, path):
    forge(path, **change)
    with pytest.raises(DataError, match="is not a usable data") as caught:
        load_split(path, "x", 1, version=2)
    assert part in str(caught.value)
