"""`springback bench` starts the benchmarks in a process of their own."""

import subprocess
import sys

import pytest

from springback.cli import main
from springback_bench.cli import running
from springback_bench.comparison import run
from springback_bench.speed import suite


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ("bench", "springback_bench.speed"),
        ("bench --quick --peers brian2", "springback_bench.speed --peers=brian2 --quick"),
        ("bench --page", "springback_bench.speed --page"),
        ("bench streams --workers 1", "springback_bench.comparison --workers=1"),
        (
            "bench streams --quick --workers 2 --stream meeting --stream cocktail --method t3a",
            "springback_bench.comparison --workers=2 --stream=meeting --stream=cocktail --method=t3a --quick",
        ),
    ],
)
def test_a_command_runs_its_benchmark(given, runs, monkeypatch):
    began = []

    def note(command, **_):
        began.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(running.subprocess, "run", note)
    with pytest.raises(SystemExit) as left:
        main(given.split())
    assert left.value.code == 3
    assert began == [[sys.executable, "-m", *runs.split()]]


def test_an_unknown_peer_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        suite.main(["--peers", "brian2,nosuch"])
    assert left.value.code == 2
    peers = "brian2, annarchy, bindsnet, neurosush, nest, pymonntorch, superneuromat, spyx"
    assert f"--peers must be among {peers}; got nosuch" in capsys.readouterr().err


def test_an_unknown_part_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        suite.main(["--parts", "roof"])
    assert left.value.code == 2
    assert (
        "--parts must be among spiking, presets, elastic, start, growth, roofline, guard; got roof"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("module", [suite, run])
def test_a_page_without_results_is_refused_in_one_sentence(module, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(module, "ROOT", tmp_path)
    with pytest.raises(SystemExit) as left:
        module.main(["--page"])
    assert left.value.code == 2
    assert "--page needs the results of an earlier run" in capsys.readouterr().err
