"""Files appear whole or not at all, and say what they are."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from springback.check import DataError
from springback.storage import StreamedTensor, atomic_file, open_tensors, previous_path, save_tensors

TENSORS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "labels": np.array([1, -1, 3])}


def test_the_safetensors_library_reads_what_was_written(tmp_path):
    path = tmp_path / "m.safetensors"
    save_tensors(path, TENSORS, kind="model", metadata={"seed": "0"})
    for name, value in load_file(path).items():
        np.testing.assert_array_equal(value, TENSORS[name])
        assert value.dtype == TENSORS[name].dtype
    with open_tensors(path, kind="model") as file:
        assert file.metadata() == {"seed": "0", "springback": "model", "format": "1"}


def test_a_streamed_tensor_is_the_same_bytes(tmp_path):
    whole = TENSORS["weights"]
    save_tensors(tmp_path / "a", {"w": whole}, kind="model", metadata={})
    save_tensors(tmp_path / "b", {"w": StreamedTensor("float32", (2, 3), iter(whole))}, kind="model", metadata={})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_interrupted_write_leaves_the_old_file_and_no_rubbish(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"old")

    def write_half():
        with atomic_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_file_has_the_rights_of_any_new_file(tmp_path):
    with atomic_file(tmp_path / "ours") as file:
        file.write(b"")
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_previous_version_is_kept_when_asked(tmp_path):
    path = tmp_path / "m"
    for content in (b"one", b"two"):
        with atomic_file(path, keep_previous=True) as file:
            file.write(content)
    assert (path.read_bytes(), previous_path(path).read_bytes()) == (b"two", b"one")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 something else entirely", "damaged"),
        ((1 << 60).to_bytes(8, "little") + b"{}", "damaged"),
        ((2).to_bytes(8, "little") + b"{}", "not a springback model"),
    ],
)
def test_a_damaged_or_foreign_file_is_one_sentence(tmp_path, content, sentence):
    path = tmp_path / "m"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence), open_tensors(path, kind="model"):
        pass


def test_a_file_of_another_kind_or_format_is_refused(tmp_path):
    path = tmp_path / "v"
    save_tensors(path, TENSORS, kind="video", metadata={})
    with (
        pytest.raises(DataError, match="not a springback model file; it says it is 'video'"),
        open_tensors(path, kind="model"),
    ):
        pass
    header = json.dumps({"__metadata__": {"springback": "model", "format": "99"}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(DataError, match="has format '99'"), open_tensors(path, kind="model"):
        pass


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="does not exist"), open_tensors(tmp_path / "none", kind="model"):
        pass
