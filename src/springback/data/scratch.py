"""A scratch folder for one download: removed at its end, or by the next download if the process was killed."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from springback.files.locks import lock_file

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
