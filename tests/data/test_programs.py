"""Programs run within limits: too long, too large or failing is one reason, and nothing of them stays behind."""

import os
import sys
import time
from pathlib import Path

import pytest

from springback.data.fetching import UnavailableError, run_program

pytestmark = pytest.mark.waits

WITH_A_CHILD = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("child.pid", "w").write(str(child.pid))
child.wait()
"""


def run(code, folder, **limits):
    return run_program("the program", [sys.executable, "-c", code], folder, **{"size_limit": 1_000_000, **limits})


def is_running(pid):
    """Whether a process runs; one that has ended but that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_it_prints_is_in_a_file(tmp_path):
    assert run("print('hello')", tmp_path).read_text() == "hello\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes as Linux shows them")
def test_one_that_takes_too_long_is_ended_with_its_children(tmp_path):
    with pytest.raises(UnavailableError, match=r"^the program took longer than 2 s$"):
        run(WITH_A_CHILD, tmp_path, time_limit_s=2)
    child = int((tmp_path / "fetched" / "child.pid").read_text())
    deadline = time.monotonic() + 30
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)


@pytest.mark.parametrize(
    "code",
    [
        "import time; open('large', 'wb').write(bytes(2_000_000)); time.sleep(600)",
        "open('large', 'wb').write(bytes(2_000_000))",
        "import sys, time; sys.stdout.write('x' * 2_000_000); sys.stdout.flush(); time.sleep(600)",
        "import tempfile, time; f = tempfile.TemporaryFile(); g = tempfile.NamedTemporaryFile();"
        "g.write(bytes(2_000_000)); g.flush(); time.sleep(600)",
    ],
    ids=["and goes on", "and ends", "as output", "as a temporary file"],
)
def test_one_that_writes_too_much_is_ended(code, tmp_path):
    with pytest.raises(UnavailableError, match=r"^the program wrote more than 1,000,000 bytes$"):
        run(code, tmp_path)


def test_one_that_fails_says_its_last_words(tmp_path):
    with pytest.raises(UnavailableError, match=r"^the program failed: no such package$"):
        run("import sys; sys.exit('looking\\nno such package')", tmp_path)


def test_one_that_is_not_there_is_unavailable(tmp_path):
    with pytest.raises(UnavailableError, match="the program cannot be started"):
        run_program("the program", [str(tmp_path / "none")], tmp_path, size_limit=1000)


def test_it_gets_no_input_and_the_settings_given(tmp_path):
    code = "import os, sys; print(repr(sys.stdin.read()), os.environ['COLOUR'], os.environ['TMPDIR'])"
    printed = run(code, tmp_path, environment={"COLOUR": "red"}).read_text().split()
    assert printed == ["''", "red", str(tmp_path)]
    assert "COLOUR" not in os.environ
