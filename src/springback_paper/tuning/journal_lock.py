"""A lock on a journal of trials that no killed process can leave behind.

It is the operating system's own lock on the journal itself: however its holder ends, the lock ends with it.
"""

import time
from pathlib import Path
from typing import IO

from springback.check import DataError
from springback.files.locks import lock_file

_LOOK_EVERY_S = 0.02


class JournalLock:
    """What optuna asks of the lock of a journal file: `acquire` and `release`.

    Parameters
    ----------
    patience_s : float
        How long to wait for another process; a trial holds the lock for milliseconds.
    """

    def __init__(self, path: Path, *, patience_s: float = 60.0) -> None:
        self._path = path.absolute()
        self._patience_s = patience_s
        self._file: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Wait for the lock, and mend the journal if a process was killed while it wrote."""
        file = self._path.open("r+b")
        try:
            self._wait(file)
            _cut_off_half_a_line(file)
        except BaseException:
            file.close()
            raise
        self._file = file
        return True

    def release(self) -> None:
        """Give it back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _wait(self, file: IO[bytes]) -> None:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                lock_file(file)
            except (BlockingIOError, PermissionError):
                if time.monotonic() > deadline:
                    raise DataError(
                        f"another process has held {self._path} for {self._patience_s:g} s; "
                        "end that process, or name another place for the trials"
                    ) from None
                time.sleep(_LOOK_EVERY_S)
            except OSError as error:
                raise DataError(
                    f"{self._path} cannot be locked ({error.strerror}); name a database for the trials"
                ) from error
            else:
                return


def _cut_off_half_a_line(file: IO[bytes]) -> None:
    """What follows the last line break was never finished; the next line would be joined to it."""
    end = file.seek(0, 2)
    whole = end
    while whole:
        start = max(0, whole - 4096)
        file.seek(start)
        block = file.read(whole - start)
        if (last := block.rfind(b"\n")) >= 0:
            whole = start + last + 1
            break
        whole = start
    if whole < end:
        file.truncate(whole)
