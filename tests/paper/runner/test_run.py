"""The runner: order, disk, failures, and lost workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback_paper.runner.pools import ClusterPool, LocalPool
from springback_paper.runner.run import TaskStore, run_tasks, set_aside
from springback_paper.runner.task import Task
from tests.paper.runner.small_cluster import ROOT, small_cluster
from tests.paper.runner.small_tasks import diamond, die_once, draw, fail, not_a_record

pytestmark = pytest.mark.waits

PATIENCE_S = 240


@pytest.fixture(scope="module", autouse=True)
def workers_find_the_small_tasks():
    """Processes of the pool inherit the path of this one."""
    sys.path.append(ROOT)
    yield
    sys.path.remove(ROOT)


def run(tasks, folder, workers=2):
    events = []
    store = TaskStore(folder, tasks)
    failed = run_tasks(tasks, store, lambda: LocalPool(workers), events.append)
    return store, failed, events


def names(events, what):
    return [event.task.name for event in events if event.what == what]


def by_hand():
    """The diamond without any runner."""
    first = draw()
    middle = {f"middle-{i}": draw(seed=i, first=first) for i in range(1, 7)}
    return {"first": first, **middle, "last": draw(seed=9, **middle)}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    return folder, *run(diamond(), folder)


def test_results_are_those_of_plain_calls(finished):
    _, store, failed, _ = finished
    assert failed == {}
    for name, plain in by_hand().items():
        np.testing.assert_array_equal(store.load(name).values, plain.values)
        assert store.timing(name).seconds >= 0


def test_tasks_start_after_what_they_need_and_the_longest_first(finished):
    events = finished[3]
    order = [(event.what, event.task.name) for event in events if event.task]
    for i in range(1, 7):
        assert order.index(("finished", "first")) < order.index(("started", f"middle-{i}"))
    assert names(events, "started")[-1] == "last"


def test_the_longest_ready_task_is_begun_first(tmp_path):
    tasks = [Task(name=f"p{i}", run=draw, needs={}, seconds=s) for i, s in enumerate((1, 9, 4))]
    _, _, events = run(tasks, tmp_path, workers=1)
    assert names(events, "started") == ["p1", "p2", "p0"]


def test_nothing_is_computed_twice(finished):
    folder = finished[0]
    store = TaskStore(folder, diamond())

    def no_pool():
        raise AssertionError("a pool was made though nothing was to do")

    events = []
    assert run_tasks(diamond(), store, no_pool, events.append) == {}
    assert len(names(events, "kept")) == 8


def test_a_changed_parameter_is_computed_anew_beside_the_old_result(finished):
    folder = finished[0]
    before = {path.name for path in folder.iterdir()}
    tasks = [replace(one, params={"n": 7}) if one.name == "middle-1" else one for one in diamond()]
    _, _, events = run(tasks, folder)
    assert sorted(names(events, "finished")) == ["last", "middle-1"]
    assert before < {path.name for path in folder.iterdir()}


def test_a_damaged_result_is_computed_again(tmp_path):
    store, _, _ = run(diamond(), tmp_path)
    path = store.path("middle-2")
    whole = path.read_bytes()
    path.write_bytes(whole[:30])
    assert "middle-2" not in store.load_all()
    _, failed, events = run(diamond(), tmp_path)
    assert not failed
    assert names(events, "finished") == ["middle-2"]
    np.testing.assert_array_equal(store.load("middle-2").values, by_hand()["middle-2"].values)


def test_a_failed_task_stops_only_what_needs_it(tmp_path):
    tasks = [replace(one, run=fail) if one.name == "middle-4" else one for one in diamond()]
    store, failed, events = run(tasks, tmp_path)
    assert failed == {
        "middle-4": "ValueError: n must be > 0; got -1",
        "last": "needs middle-4, which failed",
    }
    assert names(events, "skipped") == ["last"]
    assert len(store.load_all()) == 6
    assert "n must be > 0" in next(event.trace for event in events if event.what == "failed")


def test_a_result_that_cannot_be_kept_is_a_failure(tmp_path):
    _, failed, _ = run([Task(name="odd", run=not_a_record, needs={})], tmp_path)
    assert failed["odd"].startswith("TypeError: Drawn.total must be a number, text, bool, None, an array, or a tuple")


def test_a_task_whose_process_is_killed_is_begun_once_more(tmp_path):
    params = {"marks": str(tmp_path)}
    tasks = [Task(name="dies", run=die_once, params=params, needs={}), *diamond()]
    _, failed, events = run(tasks, tmp_path / "tasks")
    assert failed == {}
    assert names(events, "started").count("dies") == 2


def test_tasks_are_set_aside_under_ever_new_names(tmp_path):
    folder = tmp_path / "tasks"
    assert set_aside(folder) is None
    for number in (1, 2):
        folder.mkdir()
        (folder / "x").touch()
        assert set_aside(folder) == tmp_path / f"tasks.previous-{number}"
    assert not folder.exists()
    assert (tmp_path / "tasks.previous-1" / "x").exists()


INTERRUPTED = """
import signal
import sys
from pathlib import Path
from springback_paper.runner.pools import LocalPool
from springback_paper.runner.run import TaskStore, run_tasks
from tests.paper.runner.small_cluster import ROOT, small_cluster
from tests.paper.runner.small_tasks import diamond
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would ignore it
    tasks = diamond({"marks": sys.argv[1]})
    run_tasks(tasks, TaskStore(Path(sys.argv[2]), tasks), lambda: LocalPool(2))
"""


@pytest.mark.more
@pytest.mark.parametrize("signal_sent", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_goes_on_from_what_is_finished(tmp_path, signal_sent):
    marks, folder = tmp_path / "marks", tmp_path / "tasks"
    marks.mkdir()
    (marks / "hold-late").touch()
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    command = [sys.executable, str(script), str(marks), str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_S
    while len(list(folder.glob("middle*.safetensors"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal_sent)
    assert process.wait(timeout=PATIENCE_S) != 0
    (marks / "hold-late").unlink()
    tasks = diamond({"marks": str(marks)})
    finished = set(TaskStore(folder, tasks).load_all())
    assert "first" in finished
    assert len(finished) < 8
    _, failed, events = run(tasks, folder)
    assert not failed
    assert set(names(events, "kept")) == finished
    assert set(names(events, "started")).isdisjoint(finished)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A real scheduler and two worker processes, each with one thread."""
    with small_cluster(tmp_path_factory.mktemp("cluster")) as (address, _, workers):
        yield address, workers


def test_a_run_on_a_cluster_survives_the_loss_of_a_worker_and_equals_the_local_one(cluster, tmp_path, finished):
    address, workers = cluster
    tasks = diamond({"marks": str(tmp_path)})
    store = TaskStore(tmp_path / "tasks", tasks)
    events = []
    pool = ClusterPool(address)
    deadline = time.monotonic() + PATIENCE_S
    while pool.slots < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pool.slots == 2
    killed = threading.Event()

    busy = tmp_path / f"busy-{workers[0].pid}"
    (tmp_path / f"hold-{workers[0].pid}").touch()

    def watch(event):
        events.append(event)
        if names(events, "finished") and not killed.is_set() and busy.exists():
            workers[0].kill()
            killed.set()

    failed = run_tasks(tasks, store, lambda: pool, watch)
    assert killed.is_set()
    assert failed == {}
    assert len(list(tmp_path.glob("begun-*"))) == 9
    local = finished[1]
    for name in by_hand():
        np.testing.assert_array_equal(store.load(name).values, local.load(name).values)


def test_a_cluster_that_is_not_there_is_one_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(DataError, match=r"the cluster tcp://127.0.0.1:9 gave no worker within 1 s"):
        ClusterPool("tcp://127.0.0.1:9", patience_s=1)
