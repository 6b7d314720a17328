"""Files from outside are regular and of limited size."""

import os

import pytest

from springback.check import DataError
from springback.files.regular import read_bytes


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe is a named pipe, not a regular file"):
        read_bytes(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("place", "sentence"),
    [("/dev/zero", "is a device"), (".", "is a folder"), ("none", "does not exist"), ("file/under", "does not exist")],
)
def test_what_is_no_file_is_one_sentence(tmp_path, place, sentence):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=sentence):
        read_bytes(tmp_path / place)


def test_a_sparse_giant_is_refused_by_its_size_alone(tmp_path):
    with open(tmp_path / "giant", "wb") as file:
        file.truncate(100 * 2**30)
    with pytest.raises(DataError, match="must not exceed 1,000 bytes; it has 107,374,182,400"):
        read_bytes(tmp_path / "giant", largest=1000)
