"""Files say what they are, and one changed bit is one too many."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from springback.check import DataError
from springback.storage import (
    FORMAT,
    StreamedTensor,
    has_version,
    load_newest,
    open_tensors,
    previous_path,
    read_tensors,
    save_tensors,
)
from tests.fuzz.mutations import flipped, resealed

TENSORS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "labels": np.array([1, -1, 3])}


def test_the_safetensors_library_reads_what_was_written(tmp_path):
    path = tmp_path / "m.safetensors"
    save_tensors(path, TENSORS, kind="model", metadata={"seed": "0"})
    for name, value in load_file(path).items():
        np.testing.assert_array_equal(value, TENSORS[name])
        assert value.dtype == TENSORS[name].dtype
    _, metadata = read_tensors(path, kind="model")
    assert dict(metadata) | {"sha256": ""} == {"sha256": "", "seed": "0", "springback": "model", "format": FORMAT}


def test_a_streamed_tensor_is_the_same_bytes(tmp_path):
    whole = TENSORS["weights"]
    save_tensors(tmp_path / "a", {"w": whole}, kind="model", metadata={})
    save_tensors(tmp_path / "b", {"w": StreamedTensor("float32", (2, 3), iter(whole))}, kind="model", metadata={})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_order_of_bytes_in_memory_does_not_matter(tmp_path):
    save_tensors(tmp_path / "a", {"w": TENSORS["weights"]}, kind="model", metadata={})
    save_tensors(tmp_path / "b", {"w": TENSORS["weights"].astype(">f4")}, kind="model", metadata={})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_metadata_of_another_file_can_be_given_on(tmp_path):
    save_tensors(tmp_path / "a", TENSORS, kind="model", metadata={"seed": "0"})
    _, metadata = read_tensors(tmp_path / "a", kind="model")
    save_tensors(tmp_path / "b", TENSORS, kind="model", metadata=metadata)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_stream_that_breaks_its_promise_leaves_no_file(tmp_path):
    short = StreamedTensor("float32", (3, 3), iter(TENSORS["weights"]))
    with pytest.raises(ValueError, match="the chunks of w must fill its shape"):
        save_tensors(tmp_path / "m", {"w": short}, kind="model", metadata={})
    assert not list(tmp_path.iterdir())


def test_one_flipped_bit_anywhere_is_refused(tmp_path):
    path = tmp_path / "m"
    save_tensors(path, TENSORS, kind="model", metadata={"seed": "0"})
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 3):
        path.write_bytes(flipped(whole, bit))
        with pytest.raises(DataError):
            read_tensors(path, kind="model")


def test_a_file_cut_anywhere_or_with_something_added_is_refused(tmp_path):
    path = tmp_path / "m"
    save_tensors(path, TENSORS, kind="model", metadata={})
    whole = path.read_bytes()
    for content in [*(whole[:end] for end in range(len(whole))), whole + b"\0", whole + whole]:
        path.write_bytes(content)
        with pytest.raises(DataError):
            read_tensors(path, kind="model")


def test_a_file_without_a_seal_is_refused(tmp_path):
    save_file(TENSORS, tmp_path / "m", metadata={"springback": "model", "format": FORMAT, "sha256": "0" * 64})
    with pytest.raises(DataError, match="checksum"):
        read_tensors(tmp_path / "m", kind="model")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 something else entirely", "damaged"),
        ((1 << 60).to_bytes(8, "little") + b"{}", "damaged"),
        ((2).to_bytes(8, "little") + b"{}", "not a springback model"),
        ((200_000).to_bytes(8, "little") + b"[" * 200_000, "damaged"),
        ((200_000).to_bytes(8, "little") + b'{"a":' * 40_000, "damaged"),
        ((21).to_bytes(8, "little") + b'{"__metadata__": [1]}', "damaged"),
    ],
)
def test_a_damaged_or_foreign_file_is_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        read_tensors(path, kind="model")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"dtype": "F8_E4M3", "shape": [24]}, "float64; w is F8_E4M3"),
        ({"dtype": "BF16", "shape": [12]}, "float64; w is BF16"),
        ({"dtype": "BOOL", "shape": [24]}, "float64; w is BOOL"),
        ({"dtype": "F31", "shape": [6]}, "damaged"),
        ({"dtype": "F32", "shape": [2**62, 2**62, 6]}, "damaged"),
        ({"dtype": "F32", "shape": [-6]}, "damaged"),
        ({"dtype": "F32", "shape": [7]}, "damaged"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [0, 2**63]}, "damaged"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [24, 0]}, "damaged"),
    ],
)
def test_a_layout_that_springback_never_writes_is_refused_even_with_a_seal(tmp_path, entry, sentence):
    path = tmp_path / "m"
    save_tensors(path, {"w": TENSORS["weights"]}, kind="model", metadata={})
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header["w"] |= entry
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(resealed(len(text).to_bytes(8, "little") + text + content[8 + size :]))
    with pytest.raises(DataError, match=sentence):
        read_tensors(path, kind="model")


def test_a_file_of_another_kind_or_format_is_refused(tmp_path):
    path = tmp_path / "v"
    save_tensors(path, TENSORS, kind="video", metadata={})
    with pytest.raises(DataError, match="not a springback model file; it says it is 'video'"):
        read_tensors(path, kind="model")
    header = json.dumps({"__metadata__": {"springback": "model", "format": "1"}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(DataError, match="has format '1'; this version reads '2'; make it again"):
        read_tensors(path, kind="model")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _path: None, "does not exist"),
        (os.mkfifo, "is a named pipe"),
        (os.mkdir, "is a folder"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device"),
        (lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 100 * 2**30), "must not exceed"),
    ],
)
def test_what_is_no_file_of_a_sensible_size_is_one_sentence(tmp_path, make, sentence):
    make(tmp_path / "m")
    with pytest.raises(DataError, match=sentence):
        read_tensors(tmp_path / "m", kind="model")


def test_a_file_that_changes_between_two_looks_is_refused(tmp_path):
    path = tmp_path / "m"
    save_tensors(path, TENSORS, kind="model", metadata={})
    with open_tensors(path, kind="model") as file:
        seen = file.identity
    with open_tensors(path, kind="model", verified=seen) as file:
        np.testing.assert_array_equal(file.rows("weights", 1, 2), TENSORS["weights"][1:2])
    save_tensors(path, {"weights": TENSORS["weights"] + 1}, kind="model", metadata={})
    with (
        pytest.raises(DataError, match="has changed since it was opened"),
        open_tensors(path, kind="model", verified=seen),
    ):
        pass


def load(path):
    return read_tensors(path, kind="model")[1]["seed"]


@pytest.fixture
def two_versions(tmp_path):
    path = tmp_path / "m"
    for seed in ("1", "2"):
        save_tensors(path, TENSORS, kind="model", metadata={"seed": seed}, keep_previous=True)
    return path


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: os.truncate(path, 100)])
def test_a_missing_or_damaged_file_gives_way_to_the_version_before_it_and_says_so(two_versions, damage):
    assert load_newest(two_versions, load) == "2"
    damage(two_versions)
    assert has_version(two_versions)
    with pytest.warns(UserWarning, match="m.*continuing from the previous version, .*m.previous"):
        assert load_newest(two_versions, load) == "1"


def test_what_is_whole_but_not_wanted_does_not_give_way(two_versions):
    def refuse(path):
        raise DataError(f"{path} is of another training")

    with pytest.raises(DataError, match="another training"):
        load_newest(two_versions, refuse)


def test_two_damaged_versions_are_one_sentence(two_versions):
    for path in (two_versions, previous_path(two_versions)):
        os.truncate(path, 100)
    with pytest.raises(DataError, match="damaged"):
        load_newest(two_versions, load)


def test_a_damaged_file_names_the_version_before_it(two_versions):
    os.truncate(two_versions, 100)
    with pytest.raises(DataError, match=r"the previous version is .*m\.previous"):
        load(two_versions)


def test_an_empty_array_that_numpy_cannot_hold_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    save_tensors(path, {"w": np.zeros((0, 10))}, kind="model", metadata={})
    header = path.read_bytes()[8:].replace(b"[0,10]", b"[0,9223372036854775807]")  # the array has no bytes of its own
    path.write_bytes(resealed(len(header).to_bytes(8, "little") + header))
    with pytest.raises(DataError, match=r"w has shape \(0, 9223372036854775807\)"):
        read_tensors(path, kind="model")
