"""One writer of a file at a time; a killed one leaves no lock behind."""

import subprocess
import sys

import pytest

from springback.check import DataError
from springback.files.locks import sole_writer

HOLD = """
import sys
from pathlib import Path
from springback.files.locks import sole_writer
with sole_writer(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_writer_is_refused_until_the_first_has_ended_or_was_killed(tmp_path):
    path = tmp_path / "model.safetensors"
    for end in (lambda one: one.communicate(), lambda one: (one.kill(), one.communicate())):
        command = [sys.executable, "-c", HOLD, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(DataError, match=r"another process is writing .*: wait until it has ended, or"):
                sole_writer(path).__enter__()
            end(holder)
        with sole_writer(path), sole_writer(tmp_path / "other.safetensors"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_locked_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be locked"):
        sole_writer(tmp_path / "file" / "model.safetensors").__enter__()
