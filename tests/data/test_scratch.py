"""Scratch folders: gone at the end, and gone at the next download if the process was killed."""

import os
import subprocess
import sys
import tempfile

import pytest

from springback.data.fetching import remove_leftovers, scratch_folder

HOLD = """
import sys
from springback.data.fetching import scratch_folder
with scratch_folder() as folder:
    (folder / "large").write_bytes(bytes(1000))
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary_files_are_private(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def owner():
    """Another process that holds a scratch folder."""
    command = [sys.executable, "-c", HOLD]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def test_the_folder_of_a_killed_process_is_removed_by_the_next_download(owner, tmp_path):
    process, folder = owner
    process.kill()
    process.wait()
    assert os.path.exists(folder)
    with scratch_folder() as mine:
        assert list(tmp_path.iterdir()) == [mine]


def test_the_folder_of_a_living_process_stays(owner):
    _, folder = owner
    with scratch_folder():
        assert os.path.exists(os.path.join(folder, "large"))


def test_what_only_looks_like_a_scratch_folder_stays(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "in-use").touch()
    (tmp_path / "springback-download-link").symlink_to(kept)
    (tmp_path / "springback-download-file").touch()
    (tmp_path / "springback-download-new").mkdir()
    remove_leftovers()
    assert len(list(tmp_path.iterdir())) == 4
    assert (kept / "in-use").exists()


def test_an_old_folder_without_a_mark_is_removed(tmp_path):
    old = tmp_path / "springback-download-old"
    old.mkdir()
    os.utime(old, (0, 0))
    remove_leftovers()
    assert not old.exists()
