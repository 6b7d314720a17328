"""`springback reproduce`, as a user types it: on few digits, interrupted, and with mistakes."""

import json
import shutil
import signal
import subprocess
import time
from functools import partial

import pytest

from springback_paper.cli import reproduce as command_module
from springback_paper.results.results_json import check_results
from springback_paper.runner.pools import ClusterPool
from tests.absent import without
from tests.commands import command_line, springback, springback_alone

pytestmark = pytest.mark.waits

SMALL = ["--limit", 60, "--neurons", 20, "--workers", 1, "--only", "elastic", "--only", "fig_2b", "--only", "fig_3a"]


reproduce = partial(springback, "reproduce")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("reproduced") / "results"
    return out, reproduce(*SMALL, "--out", out)


@pytest.fixture
def copy_of_run(run, tmp_path):
    """A run that a test may go on with, whatever order the tests come in."""
    return shutil.copytree(run[0], tmp_path / "results")


def test_a_run_leaves_results_and_a_report(run):
    out, done = run
    assert done.returncode == 0, done.stderr
    found = json.loads((out / "results.json").read_text())
    check_results(found)
    assert set(found["omnist_test"]) == {"elastic_static", "elastic"}
    assert found["seeds"] == [0]
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    assert "not run" in (out / "report.md").read_text()
    for suffix in ("png", "svg"):
        assert (out / "figures" / f"fig_2b.{suffix}").stat().st_size > 1000


def test_the_table_and_the_place_of_the_report_are_printed(run):
    out, done = run
    assert "Elastic clustering" in done.stdout
    assert f"report: {out / 'report.html'}" in done.stdout
    assert "[4/4]" in done.stderr


def test_run_again_nothing_is_computed_and_the_numbers_stay(copy_of_run):
    out = copy_of_run
    before = {path: path.stat().st_mtime_ns for path in (out / "tasks").iterdir()}
    tables = json.loads((out / "results.json").read_text())["omnist_test"]
    done = reproduce(*SMALL, "--out", out)
    assert done.returncode == 0
    assert "finished" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in (out / "tasks").iterdir()} == before
    assert json.loads((out / "results.json").read_text())["omnist_test"] == tables


@pytest.mark.more
def test_started_afresh_with_two_seeds_old_tasks_are_set_aside_and_the_first_value_stays(copy_of_run):
    out = copy_of_run
    first = json.loads((out / "results.json").read_text())["omnist_test"]["elastic"]["values"]
    names = {path.name for path in (out / "tasks").iterdir()}
    done = reproduce(*SMALL, "--out", out, "--no-resume", "--seeds", 2)
    assert done.returncode == 0, done.stderr
    assert "set aside" in done.stdout
    assert {path.name for path in (out / "tasks.previous-1").iterdir()} == names
    found = json.loads((out / "results.json").read_text())["omnist_test"]["elastic"]
    assert found["n"] == 2
    assert found["values"][:1] == first
    assert found["std"] > 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--only", "fig_9"], "--only must name some of spiking_st_stdp"),
        (["--seeds", 0], "--seeds"),
        (["--workers", 0], "--workers"),
        (["--limit", 1], "--limit"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments, part, tmp_path):
    done = reproduce(*arguments, "--out", tmp_path / "results")
    assert done.returncode == 2
    assert part in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "results").exists()


def test_a_network_of_pytorch_that_is_asked_for_without_it_names_the_extra(tmp_path):
    asked = ["reproduce", "--only", "cnn_elastic", "--out", tmp_path / "results"]
    done = springback_alone(*asked, prelude=without("torch"))
    assert done.returncode == 2
    assert done.stderr.strip().endswith("needs torch: pip install 'springback[torch]'); got 'cnn_elastic'")


def test_a_cluster_that_is_not_there_is_one_sentence(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(command_module, "ClusterPool", partial(ClusterPool, patience_s=1))
    done = reproduce(*SMALL, "--out", tmp_path, "--cluster", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert done.stderr.startswith("springback: the cluster tcp://127.0.0.1:9 gave no worker")


def test_a_failed_task_is_told_and_the_others_go_on(tmp_path):
    done = reproduce(
        "--limit", 10, "--neurons", 10, "--workers", 1, "--only", "expansion", "--only", "fig_2b", "--out", tmp_path
    )
    assert done.returncode == 1
    assert "failed: expansion: ValueError: video must show a 9 that is recognised" in done.stdout
    assert "Traceback" in (tmp_path / "failed" / "expansion.txt").read_text()
    assert (tmp_path / "figures" / "fig_2b.png").exists()
    assert "What failed" in (tmp_path / "report.md").read_text()


def test_names_are_listed():
    done = reproduce("--full", "--list")
    assert done.returncode == 0
    for name in ("spiking_st_stdp", "fig_4a", "lstm_omnist", "mechanisms"):
        assert name in done.stdout


@pytest.mark.more
def test_interrupted_it_goes_on_from_what_is_finished(tmp_path):
    out = tmp_path / "results"
    arguments = [*SMALL[:-2], "--only", "head", "--out", out]
    prelude = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it"
    command = command_line("reproduce", *arguments, prelude=prelude)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while not list(out.glob("tasks/*.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=240)[1]
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "tasks").glob("*.safetensors")}
    assert 0 < len(kept) < 4
    done = reproduce(*arguments)
    assert done.returncode == 0, done.stderr
    after = {path.name: path.stat().st_mtime_ns for path in (out / "tasks").glob("*.safetensors")}
    assert len(after) == 4
    assert kept.items() <= after.items()
