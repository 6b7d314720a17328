"""Atomic writes: a file appears under its name only when it is complete, even if the writer is killed."""

import errno
import hashlib
import os
import secrets
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from springback.check import DataError

_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a regular file",
}
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_CREATED_WITH = 0o666


def what_it_is(mode: int) -> str:
    """The kind of a file, in words.

    Examples
    --------
    >>> what_it_is(stat.S_IFIFO | 0o600)
    'a named pipe'
    """
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def previous_path(path: Path) -> Path:
    """Where the previous version of a file is kept.

    Examples
    --------
    >>> previous_path(Path("model.safetensors")).name
    'model.safetensors.previous'
    """
    return path.with_name(path.name + ".previous")


@contextmanager
def atomic_file(path: Path, *, keep_previous: bool = False) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name, flush and sync it, and rename it when it is complete.

    With `keep_previous`, the version that is replaced is kept next to it as `NAME.previous`. Once there is a complete
    file under the name, there always is one: the only version cannot be lost by a kill at any moment.

    Only regular files are replaced; a link, a pipe or a device with that name is refused. The new file is private if
    the old one was. A disk error is raised as a one-sentence `DataError`, and no incomplete file is left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode_for(path)
        if keep_previous:
            _mode_for(previous_path(path))
        _remove_stale(path)
        name = _temporary(path)
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if keep_previous:
            _keep(path)
        _mode_for(path)
        os.replace(name, path)
        _sync_folder(path.parent)
    except OSError as error:
        if error.filename is None or Path(os.fsdecode(error.filename)).parent == path.parent:
            raise _unwritable(path, error) from error
        raise
    finally:
        with suppress(OSError):
            name.unlink(missing_ok=True)


def _mode_for(path: Path) -> int:
    """The permissions of the new file before the user's umask is applied; refuses anything but a regular file."""
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return _CREATED_WITH
    if not stat.S_ISREG(found):
        raise DataError(
            f"{path} is {what_it_is(found)}, not a regular file, so it is not replaced; choose another name"
        )
    return stat.S_IMODE(found) & _CREATED_WITH


def _temporary(path: Path) -> Path:
    return path.with_name(f"{_prefix(path)}{os.getpid()}-{secrets.token_hex(4)}.part")


def _prefix(path: Path) -> str:
    """The prefix of temporary names for this target on this machine, short enough for every legal file name."""
    target = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f".springback-{target}-{machine}-"


def _remove_stale(path: Path) -> None:
    """Remove temporary files that killed writers of this target left behind."""
    prefix = _prefix(path)
    left: list[str] = []
    with suppress(OSError), os.scandir(path.parent) as found:
        left = [one.name for one in found if one.name.startswith(prefix) and one.name.endswith(".part")]
    for name in left:
        writer = name.removeprefix(prefix).partition("-")[0]
        if writer.isdecimal() and not _is_alive(int(writer)):
            with suppress(OSError):
                path.with_name(name).unlink()


def _is_alive(process: int) -> bool:
    """Whether a process exists on this machine; True if this cannot be checked safely."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _keep(path: Path) -> None:
    """Give the current version a second name, `NAME.previous`, in addition to its first."""
    if not os.path.lexists(path):
        return
    second = _temporary(path)
    try:
        os.link(path, second)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copy2(path, second)
    try:
        os.replace(second, previous_path(path))
    finally:
        second.unlink(missing_ok=True)  # os.replace keeps both names if they are links to the same file


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"{path} cannot be written ({error.strerror or error}); nothing was changed; choose another place")


def _sync_folder(folder: Path) -> None:
    """Make the new name durable, on file systems that can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
