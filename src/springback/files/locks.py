"""Locks on files that no killed process can leave behind: the operating system's own, which end with their holder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from springback.check import DataError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def lock_file(file: IO[bytes]) -> None:
    """Lock an open file, or raise a `BlockingIOError` or `PermissionError` at once; closing the file unlocks it."""
    if sys.platform == "win32":  # A locked byte cannot be written there, so it is one that no content reaches.
        file.seek(1 << 60)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Be the only process that writes a file, from now until the end of the block; a second one is refused.

    The lock is on a small file beside it, `.NAME.lock`, because the file itself is replaced when it is written. A
    killed process leaves that file behind, but no lock.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with sole_writer(Path(folder, "a")), sole_writer(Path(folder, "b")):
    ...         print(sorted(one.name for one in Path(folder).iterdir()))
    ...     list(Path(folder).iterdir())
    ['.a.lock', '.b.lock']
    []
    """
    place = path.with_name(f".{path.name}.lock")
    file = _locked(place, path)
    try:
        yield
    finally:
        with suppress(OSError):  # before it is unlocked: another process that waits for this name must find none
            place.unlink()
        file.close()


def _locked(place: Path, path: Path) -> IO[bytes]:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = place.open("ab")
            try:
                lock_file(file)
                if _is_still(place, file):
                    return file
            except BaseException:
                file.close()
                raise
            file.close()
    except (BlockingIOError, PermissionError) as error:
        if isinstance(error, PermissionError) and error.filename is not None:
            raise DataError(f"{path} cannot be locked ({error.strerror}); choose another place") from error
        raise DataError(f"another process is writing {path}: wait until it has ended, or name another file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be locked ({error.strerror or error}); choose another place") from error


def _is_still(place: Path, file: IO[bytes]) -> bool:
    """Whether the locked file still has its name: its last holder may have removed it in the meantime."""
    try:
        return os.path.samestat(os.stat(place), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
