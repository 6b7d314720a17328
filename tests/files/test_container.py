"""Files say what they are, and one changed bit is one too many."""

import json
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from springback.check import DataError
from springback.files.atomic import previous_path
from springback.files.checkpoints import has_version, load_newest, read_checkpoint, write_checkpoint
from springback.files.container import FORMAT, KINDS, from_bytes, kind_of, opened, read, to_bytes, write
from springback.files.records import LargeArray
from tests.files.forging import forge, made
from tests.fuzz.mutations import flipped, resealed


@dataclass(frozen=True, eq=False)
class Net:
    seed: int
    weights: NDArray[np.float32]
    labels: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Arrays:
    arrays: dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Film:
    frames: LargeArray


WEIGHTS = np.arange(6, dtype=np.float32).reshape(2, 3)
NET = Net(0, WEIGHTS, np.array([1, -1, 3]))


def test_there_are_at_most_eight_kinds():
    assert len(KINDS) <= 8
    with pytest.raises(ValueError, match="kind must be one of 'model'"):
        to_bytes("memoir", NET)


def test_the_safetensors_library_reads_what_was_written(tmp_path):
    path = tmp_path / "m.safetensors"
    write(path, "model", NET, about={"made_of": "nothing"})
    for name, value in load_file(path).items():
        np.testing.assert_array_equal(value, getattr(NET, name))
        assert value.dtype == getattr(NET, name).dtype
    with opened(path, "model") as file:
        assert (file.about["made_of"], file.about["format"]) == ("nothing", FORMAT)
        assert file.shape("weights") == (2, 3)
    assert read(path, "model", Net).seed == 0
    assert kind_of(path) == ("model", "Net")


def test_bytes_are_the_same_container(tmp_path):
    write(tmp_path / "m", "state", NET)
    content = to_bytes("state", NET)
    assert content == (tmp_path / "m").read_bytes()
    np.testing.assert_array_equal(from_bytes("state", content, "state", Net).weights, WEIGHTS)
    with pytest.raises(DataError, match="state is damaged"):
        from_bytes("state", content[:-1], "state", Net)


def test_a_large_array_is_the_same_bytes(tmp_path):
    whole = np.arange(2**21, dtype=np.int16).reshape(-1, 4)
    write(tmp_path / "a", "video", Arrays({"frames": whole}))
    frames = LargeArray("int16", whole.shape, lambda start, stop: whole[start:stop])
    write(tmp_path / "b", "video", Film(frames))
    assert (tmp_path / "a").read_bytes()[-whole.nbytes :] == (tmp_path / "b").read_bytes()[-whole.nbytes :]
    again = read(tmp_path / "b", "video", Film).frames
    assert (again.dtype, again.shape) == ("int16", whole.shape)
    np.testing.assert_array_equal(again.rows(70, 93), whole[70:93])
    assert again.rows(5, 5).shape == (0, 4)


def test_the_order_of_bytes_in_memory_does_not_matter(tmp_path):
    write(tmp_path / "a", "model", Arrays({"w": WEIGHTS}))
    write(tmp_path / "b", "model", Arrays({"w": WEIGHTS.astype(">f4")}))
    ends = [(tmp_path / name).read_bytes()[-WEIGHTS.nbytes :] for name in ("a", "b")]
    assert ends[0] == ends[1]
    np.testing.assert_array_equal(read(tmp_path / "b", "model", Arrays).arrays["w"], WEIGHTS)


def test_a_large_array_that_breaks_its_promise_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="the rows of frames must fill its shape"):
        write(tmp_path / "m", "video", Film(LargeArray("float32", (3, 3), lambda start, stop: WEIGHTS[start:stop])))
    assert not list(tmp_path.iterdir())


def test_one_flipped_bit_anywhere_is_refused(tmp_path):
    path = tmp_path / "m"
    write(path, "model", NET)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 3):
        path.write_bytes(flipped(whole, bit))
        with pytest.raises(DataError):
            read(path, "model", Net)


def test_a_file_cut_anywhere_or_with_something_added_is_refused(tmp_path):
    path = tmp_path / "m"
    write(path, "model", NET)
    whole = path.read_bytes()
    for content in [*(whole[:end] for end in range(len(whole))), whole + b"\0", whole + whole]:
        path.write_bytes(content)
        with pytest.raises(DataError):
            read(path, "model", Net)


def test_a_file_without_a_seal_is_refused(tmp_path):
    save_file({"w": WEIGHTS}, tmp_path / "m", metadata={"springback": "model", "format": FORMAT, "sha256": "0" * 64})
    with pytest.raises(DataError, match="checksum"):
        read(tmp_path / "m", "model", Net)


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
        read(path, "model", Net)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"dtype": "F8_E4M3", "shape": [24]}, "w is 'F8_E4M3'"),
        ({"dtype": "BF16", "shape": [12]}, "w is 'BF16'"),
        ({"dtype": "BOOL", "shape": [24]}, "w must be 0 or 1 everywhere"),
        ({"dtype": "F31", "shape": [6]}, "w is 'F31'"),
        ({"dtype": "F32", "shape": [2**62, 2**62, 6]}, "damaged"),
        ({"dtype": "F32", "shape": [-6]}, "damaged"),
        ({"dtype": "F32", "shape": [7]}, "damaged"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [0, 2**63]}, "damaged"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [24, 0]}, "damaged"),
        ({"dtype": "F32", "shape": [6], "data_offsets": [8, 32]}, "damaged"),
    ],
)
def test_a_layout_that_springback_never_writes_is_refused_even_with_a_seal(tmp_path, entry, sentence):
    path = tmp_path / "m"
    write(path, "model", Arrays({"w": WEIGHTS}))
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header["arrays.w"] |= entry
    text = json.dumps(header, separators=(",", ":")).encode()
    path.write_bytes(resealed(len(text).to_bytes(8, "little") + text + content[8 + size :]))
    with pytest.raises(DataError, match=sentence):
        read(path, "model", Arrays)


def test_a_file_of_another_kind_format_or_record_is_refused(tmp_path):
    path = tmp_path / "v"
    write(path, "video", NET)
    with pytest.raises(DataError, match="not a springback model file; it says it is 'video'"):
        read(path, "model", Net)
    with pytest.raises(DataError, match="holds a Net, not a Film"):
        read(path, "video", Film)
    path.write_bytes(made({"springback": "model", "format": "2"}, {}))
    with pytest.raises(DataError, match="has format '2'; this version reads '3'; make it again"):
        read(path, "model", Net)


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
        read(tmp_path / "m", "model", Net)


def test_a_large_array_whose_file_changes_meanwhile_is_refused(tmp_path):
    path = tmp_path / "m"
    write(path, "video", Film(LargeArray("float32", (2, 3), lambda start, stop: WEIGHTS[start:stop])))
    frames = read(path, "video", Film).frames
    np.testing.assert_array_equal(frames.rows(1, 2), WEIGHTS[1:2])
    write(path, "video", Film(LargeArray("float32", (2, 3), lambda start, stop: 1 + WEIGHTS[start:stop])))
    with pytest.raises(DataError, match="has changed since it was opened"):
        frames.rows(1, 2)


def load(path):
    return read(path, "model", Net).seed


@pytest.fixture
def two_versions(tmp_path):
    path = tmp_path / "m"
    for seed in (1, 2):
        write(path, "model", Net(seed, NET.weights, NET.labels), keep_previous=True)
    return path


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: os.truncate(path, 100)])
def test_a_missing_or_damaged_file_gives_way_to_the_version_before_it_and_says_so(two_versions, damage):
    assert load_newest(two_versions, load) == 2
    damage(two_versions)
    assert has_version(two_versions)
    with pytest.warns(UserWarning, match="m.*continuing from the previous version, .*m.previous"):
        assert load_newest(two_versions, load) == 1


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
    write(path, "model", Arrays({"w": np.zeros((0, 10))}))
    header = path.read_bytes()[8:].replace(b"[0,10]", b"[0,9223372036854775807]")  # the array has no bytes of its own
    path.write_bytes(resealed(len(header).to_bytes(8, "little") + header))
    with pytest.raises(DataError, match=r"arrays.w has shape \(0, 9223372036854775807\)"):
        read(path, "model", Arrays)


def test_a_record_that_does_not_name_its_arrays_is_refused(tmp_path):
    write(tmp_path / "m", "model", NET)
    forge(tmp_path / "m", arrays={"more": np.zeros(1)})
    with pytest.raises(DataError, match="hold no arrays that its record does not name"):
        read(tmp_path / "m", "model", Net)


def test_a_checkpoint_of_another_training_is_refused_and_not_replaced_by_the_one_before(tmp_path):
    path = tmp_path / "training"
    for step in (1, 2):
        write_checkpoint(path, {"seed": "0"}, {"step": np.array([step])})
    assert read_checkpoint(path, {"seed": "0"}, lambda arrays: int(arrays["step"][0])) == 2
    with pytest.raises(DataError, match="is of another training: its seed is 0, not 1; delete it to start again"):
        read_checkpoint(path, {"seed": "1"}, lambda arrays: arrays)
    os.truncate(path, 100)
    with pytest.warns(UserWarning, match="continuing from the previous version"):
        assert read_checkpoint(path, {"seed": "0"}, lambda arrays: int(arrays["step"][0])) == 1
