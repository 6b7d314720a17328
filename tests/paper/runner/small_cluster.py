"""A Dask cluster of real processes on this machine, for the tests of the runner."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[3])


@contextmanager
def small_cluster(folder):
    """(address, scheduler process, worker processes): two workers, each with one thread."""
    pytest.importorskip("distributed")
    path = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "240s"}
    place = folder / "scheduler.json"

    def start(*arguments):
        command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
        return subprocess.Popen(
            command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    options = ["--scheduler-file", str(place), "--no-dashboard"]
    scheduler = start("scheduler", *options, "--host", "127.0.0.1", "--port", "0")
    workers = [
        start("worker", *options, "--nthreads", "1", "--no-nanny", "--name", f"w{i}", "--host", "127.0.0.1")
        for i in range(2)
    ]
    try:
        deadline = time.monotonic() + 240
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield json.loads(place.read_text())["address"], scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
