"""`springback bench`: it needs the repository, runs what was asked for, and refuses peers that it does not know."""

import subprocess
import sys

import pytest

import springback
from benchmarks import suite
from springback.check import DataError
from springback.cli import main, repository
from springback.cli.repository import find_repository


def test_outside_the_repository_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(springback, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="needs the repository"):
        find_repository()


def test_it_is_found_where_one_stands(tmp_path, monkeypatch):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "suite.py").touch()
    monkeypatch.setattr(springback, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    assert find_repository().resolve() == tmp_path.resolve()


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ("bench", "benchmarks"),
        ("bench --quick --peers brian2", "benchmarks --peers=brian2 --quick"),
        ("bench --page", "benchmarks --page"),
        ("bench streams --workers 1", "benchmarks.streams --workers=1"),
        (
            "bench streams --quick --workers 2 --only meeting --only cocktail",
            "benchmarks.streams --workers=2 --only=meeting --only=cocktail --quick",
        ),
    ],
)
def test_a_command_runs_its_benchmark_in_the_repository(given, runs, monkeypatch):
    began = []

    def note(command, **_):
        began.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(repository.subprocess, "run", note)
    with pytest.raises(SystemExit) as left:
        main(given.split())
    assert left.value.code == 3
    assert began == [[sys.executable, "-m", *runs.split()]]


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        suite.main(["--peers", "brian2,nosuch"])
    assert left.value.code == 2
    assert "--peers must be among brian2, annarchy, bindsnet, neurosush; got nosuch" in capsys.readouterr().err
