"""`springback`, as a user types it: in this process, or in one of its own where the process itself is tested."""

import contextlib
import io
import subprocess
import sys

import pytest

from springback.cli import main


def springback(*arguments):
    """The command in this process, which has imported everything already: exit code, output and errors."""
    output, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    given = [str(one) for one in arguments]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), pytest.raises(SystemExit) as left:
        main(given)
    said = (one.buffer.getvalue().decode() for one in (output, errors))
    return subprocess.CompletedProcess(given, left.value.code, *said)


def command_line(*arguments, prelude=""):
    """The command line of a process of its own, which runs the lines of `prelude` first."""
    return [sys.executable, "-c", f"{prelude}\nfrom springback.cli import main; main()", *map(str, arguments)]


def springback_alone(*arguments, prelude="", **options):
    """The command in a process of its own, to its end."""
    command = command_line(*arguments, prelude=prelude)
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, **options)
