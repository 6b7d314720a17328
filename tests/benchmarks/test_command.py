"""`springback bench`: it needs the repository, and refuses peers that it does not know."""

import pytest

import springback
from benchmarks import suite
from springback.check import DataError
from springback.cli import bench


def test_outside_the_repository_one_sentence_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(springback, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="needs the repository"):
        bench._repository()


def test_it_is_found_where_one_stands(tmp_path, monkeypatch):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "suite.py").touch()
    monkeypatch.setattr(springback, "__file__", str(tmp_path / "a" / "b" / "c" / "d.py"))
    monkeypatch.chdir(tmp_path)
    assert bench._repository().resolve() == tmp_path.resolve()


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        suite.main(["--peers", "brian2,nosuch"])
    assert left.value.code == 2
    assert "--peers must be among brian2, annarchy, bindsnet, neurosush; got nosuch" in capsys.readouterr().err
