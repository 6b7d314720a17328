"""Programs of the operating system (pip, npm, apt-get), run within limits of time and disk space."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

_LOOK_EVERY_S = 0.1


class UnavailableError(Exception):
    """A source of data cannot be used here; the message says why."""


def run_program(
    what: str,
    command: list[str],
    folder: Path,
    *,
    size_limit: int,
    time_limit_s: float = 300.0,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Run a program and return a file in the folder that contains its output.

    It works in `folder / "fetched"`, and everything it writes, including temporary files, must be in the folder. If it
    takes too long or the folder grows too large, it is ended together with the programs that it has started.

    Parameters
    ----------
    what : str
        Its name in error messages.
    """
    workplace = folder / "fetched"
    workplace.mkdir(exist_ok=True)
    printed, errors = folder / "printed", folder / "errors"
    here = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder))
    with printed.open("wb") as out, errors.open("wb") as err:
        try:
            process = subprocess.Popen(
                command,
                cwd=workplace,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **here, **(environment or {})},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise UnavailableError(f"{what} cannot be started ({error})") from error
        try:
            _watch(process, folder, what, size_limit, time_limit_s)
        finally:
            _end(process)
    if process.returncode != 0:
        with errors.open("rb") as file:
            said = file.read(10_000).decode(errors="replace").strip().splitlines()[-1:]
        raise UnavailableError(f"{what} failed" + "".join(f": {line[:200]}" for line in said))
    return printed


def _watch(process: "subprocess.Popen[bytes]", folder: Path, what: str, size_limit: int, time_limit_s: float) -> None:
    deadline = time.monotonic() + time_limit_s
    running = True
    while running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_LOOK_EVERY_S)
            running = False
        if _size(folder) > size_limit:
            raise UnavailableError(f"{what} wrote more than {size_limit:,} bytes")
        if running and time.monotonic() > deadline:
            raise UnavailableError(f"{what} took longer than {time_limit_s:g} s")


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program and, on POSIX, everything that it has started: it leads its own process group."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
