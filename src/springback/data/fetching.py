"""What fetches data from outside: programs (pip, npm, apt-get), web addresses, and a scratch folder for each download.

Programs and downloads are limited in time and size. The folder is removed at the end, or by the next download if the
process was killed.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from springback.files.locks import lock_file

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


def download(address: str, limit: int, *, wait_s: float = 15.0, time_limit_s: float = 300.0) -> bytes:
    """The bytes at an address; redirects are not followed.

    Parameters
    ----------
    limit : int
        The largest number of bytes that is accepted.
    wait_s : float
        The longest wait for the next bytes.
    time_limit_s : float
        The longest wait for all of them.
    """
    import pooch

    got = _Bounded(limit)
    failures: list[Exception] = []
    fetch = pooch.HTTPDownloader(timeout=wait_s, allow_redirects=False, headers={"Accept-Encoding": "identity"})

    def work() -> None:
        try:
            fetch(address, got, None)
        except Exception as error:
            failures.append(error)

    # A server that sends single bytes slowly can block a read forever, so the read runs in its own thread.
    reading = threading.Thread(target=work, daemon=True)
    reading.start()
    reading.join(time_limit_s)
    if reading.is_alive():
        got.closed = True
        raise UnavailableError(f"it took longer than {time_limit_s:g} s")
    if failures:
        reason = str(failures[0]) if isinstance(failures[0], UnavailableError) else type(failures[0]).__name__
        raise UnavailableError(reason) from failures[0]
    return bytes(got.content)


class _Bounded:
    """A writable buffer with a size limit."""

    def __init__(self, limit: int) -> None:
        self.content = bytearray()
        self.limit = limit
        self.closed = False

    def write(self, block: bytes) -> int:
        if self.closed or len(self.content) + len(block) > self.limit:
            raise UnavailableError(f"it has more than {self.limit:,} bytes")
        self.content += block
        return len(block)

    def flush(self) -> None:
        """Do nothing, because everything is already in memory."""


_PREFIX = "springback-download-"
_OWNER = "in-use"
_UNMARKED_S = 3600.0
"""A folder without a mark is being made at this moment, unless it is older than this."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new private folder. Those of killed processes are removed first.

    Examples
    --------
    >>> with scratch_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    remove_leftovers()
    temporary = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    with temporary as name, (Path(name) / _OWNER).open("wb") as mark:
        _hold(mark)
        yield Path(name)


def remove_leftovers() -> None:
    """Remove the scratch folders of this user whose process has ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if _is_own_folder(folder) and not _is_in_use(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_own_folder(folder: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return False
    return sys.platform == "win32" or folder.stat().st_uid == os.getuid()


def _is_in_use(folder: Path) -> bool:
    mark = folder / _OWNER
    if not mark.is_file():
        return time.time() - folder.stat().st_mtime < _UNMARKED_S
    if sys.platform == "win32":  # A file that some process has open cannot be removed there.
        try:
            mark.unlink()
        except OSError:
            return True
        return False
    with mark.open("rb") as file:
        try:
            lock_file(file)
        except OSError:
            return True
    return False


def _hold(mark: IO[bytes]) -> None:
    """Lock the mark; the kernel releases the lock when this process ends, for whatever reason."""
    if sys.platform != "win32":
        lock_file(mark)
