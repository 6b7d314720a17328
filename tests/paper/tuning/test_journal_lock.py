"""The lock of a search: gone with a killed process, never waited for without end, and half a line is mended."""

import os
import subprocess
import sys

import pytest

from springback.check import DataError
from springback_paper.tuning.journal_lock import JournalLock
from springback_paper.tuning.models import Tuning
from springback_paper.tuning.shared_search import n_finished, study_of

TUNING = Tuning(model="elastic", n_train=300, n_digits=10, neurons=20)
HOLD = """
import sys
from pathlib import Path
from springback_paper.tuning.journal_lock import JournalLock
lock = JournalLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "trials.journal"
    path.write_bytes(b"")
    return path


@pytest.fixture
def holder(journal):
    """Another process that has the lock."""
    command = [sys.executable, "-c", HOLD, str(journal)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_held_lock_is_waited_for_with_an_end(journal, holder):
    with pytest.raises(DataError, match=r"another process has held .*trials.journal for 0.2 s; end that process, or"):
        JournalLock(journal, patience_s=0.2).acquire()
    holder.communicate("")
    lock = JournalLock(journal, patience_s=0.2)
    assert lock.acquire()
    lock.release()


def test_the_lock_of_a_killed_process_is_free(journal, holder):
    holder.kill()
    holder.wait()
    lock = JournalLock(journal, patience_s=5)
    assert lock.acquire()
    lock.release()


def test_released_it_can_be_had_again(journal):
    lock = JournalLock(journal, patience_s=0.2)
    for _ in range(2):
        lock.acquire()
        with pytest.raises(DataError, match="another process"):
            JournalLock(journal, patience_s=0.05).acquire()
        lock.release()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b""),
        (b"{}\n", b"{}\n"),
        (b"{}\n{}\n" + b"x" * 10_000, b"{}\n{}\n"),
        (b"x" * 9000, b""),
    ],
    ids=["empty", "whole", "half a line", "half of the first line"],
)
def test_half_a_line_is_cut_off(journal, before, after):
    journal.write_bytes(before)
    lock = JournalLock(journal)
    lock.acquire()
    lock.release()
    assert journal.read_bytes() == after


def test_a_lock_that_a_killed_search_left_in_a_relative_folder_hinders_nobody(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("tuning")
    os.symlink("tuning/trials.journal", "tuning/trials.journal.lock")
    study = study_of(TUNING, "tuning/trials.journal")
    study.tell(study.ask(), 1.0)
    monkeypatch.chdir(tmp_path.parent)
    assert n_finished(study_of(TUNING, str(tmp_path / "tuning" / "trials.journal"))) == 1


def test_a_search_goes_on_after_a_line_that_was_never_finished(journal):
    study = study_of(TUNING, str(journal))
    study.tell(study.ask(), 1.0)
    with journal.open("ab") as file:
        file.write(b'{"op_code":')
    again = study_of(TUNING, str(journal))
    again.tell(again.ask(), 2.0)
    assert n_finished(study_of(TUNING, str(journal))) == 2


def test_other_code_is_another_study(journal, monkeypatch):
    study = study_of(TUNING, str(journal))
    study.tell(study.ask(), 1.0)
    monkeypatch.setattr(
        "springback_paper.tuning.shared_search.code_of", lambda _modules: type("C", (), {"digest": "x"})
    )
    assert n_finished(study_of(TUNING, str(journal))) == 0
