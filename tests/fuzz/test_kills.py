"""A few kills at random moments; `python -m tests.fuzz.kills --kills 200` does many."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.waits


@pytest.mark.more
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks at processes as Linux shows them")
def test_runs_that_are_killed_lose_nothing_and_end_as_if_nobody_had_disturbed_them():
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.fuzz.kills", "--kills", "4", "--seed", "1"]
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 processes left behind" in done.stdout
