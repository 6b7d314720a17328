"""Pools: workers do not outlive a killed run, and a lost scheduler is one sentence."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from springback.check import DataError
from springback_paper.runner.pools import ClusterPool
from springback_paper.runner.run import TaskStore, run_tasks
from tests.paper.runner.small_cluster import ROOT, small_cluster
from tests.paper.runner.small_tasks import diamond

KILLED = """
import sys
from pathlib import Path
from springback_paper.runner.pools import LocalPool
from springback_paper.runner.run import TaskStore, run_tasks
from tests.paper.runner.small_tasks import diamond
if __name__ == "__main__":
    tasks = [task for task in diamond({"marks": sys.argv[1]}) if not task.needs]
    task = tasks[0]
    tasks += [type(task)(name=f"other-{i}", run=task.run, params=task.params, seed=i, needs={}) for i in range(1, 6)]
    run_tasks(tasks, TaskStore(Path(sys.argv[2]), tasks), lambda: LocalPool(2))
"""
WATCHED_BY_A_THREAD_ALONE = """
import os, subprocess, sys
code = (
    "import os, time; from springback_paper.runner import orphans; orphans._ask_linux = lambda: None;"
    "orphans.end_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(600)"
)
subprocess.run([sys.executable, "-c", code])
"""


def is_running(pid):
    """Whether a process is there, and not only its exit code."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


pytestmark = [
    pytest.mark.waits,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them"),
]


def test_workers_end_soon_after_their_run_was_killed(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    (tmp_path / "hold-late").touch()
    path = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(script), str(tmp_path), str(tmp_path / "tasks")]
    run = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: len(list(tmp_path.glob("busy-*"))) == 2)
    workers = [int(path.name.removeprefix("busy-")) for path in tmp_path.glob("busy-*")]
    assert all(map(is_running, workers))
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert wait_until(lambda: not any(map(is_running, workers)))


def test_a_watching_thread_alone_ends_a_worker_too():
    command = [sys.executable, "-c", WATCHED_BY_A_THREAD_ALONE]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert is_running(worker)
    parent.kill()
    parent.communicate()
    assert wait_until(lambda: not is_running(worker))


@pytest.mark.more
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_lost_scheduler_is_one_sentence_and_what_is_finished_is_kept(sent, tmp_path):
    with small_cluster(tmp_path) as (address, scheduler, _):
        (tmp_path / "hold-late").touch()
        tasks = diamond({"marks": str(tmp_path)})
        folder = TaskStore(tmp_path / "tasks", tasks)
        events = []
        pool = ClusterPool(address, patience_s=120)

        def watch(event):
            events.append((event.what, event.task and event.task.name))
            if event.what == "finished" and event.task.name != "first":
                scheduler.send_signal(sent)
                pool._patience_s = 1.0

        with pytest.raises(
            DataError, match=rf"the scheduler of the cluster {address} is gone \(.+\); finished tasks are kept"
        ):
            run_tasks(tasks, folder, lambda: pool, watch)
        finished = {name for what, name in events if what == "finished"}
        assert len(finished) >= 2
        assert set(folder.load_all()) == finished
        assert not [name for what, name in events if what == "failed"]
