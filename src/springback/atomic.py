"""Files that appear under their names only when complete, whatever kills the writer or stood there before."""

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
}
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_CREATED_WITH = 0o666


def what_it_is(mode: int) -> str:
    """What a file of this mode is, if it is no regular file.

    Examples
    --------
    >>> what_it_is(stat.S_IFIFO | 0o600)
    'a named pipe'
    """
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def previous_path(path: Path) -> Path:
    """Where the version before the present one is kept.

    Examples
    --------
    >>> previous_path(Path("model.safetensors")).name
    'model.safetensors.previous'
    """
    return path.with_name(path.name + ".previous")


@contextmanager
def atomic_file(path: Path, *, keep_previous: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when complete: temporary, flushed, synced, renamed.

    With `keep_previous`, what stood there before stays beside it as `NAME.previous`. The name itself is never without a
    whole file once it has had one: there is no moment at which a kill loses the only version.

    Only regular files are replaced; a link, a pipe or a device under that name is refused. A file that its owner had
    made private stays so. What goes wrong with the disk is one sentence, and leaves nothing half-written.
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
    """The rights to create the new file with, from which the user's umask is taken; refuses what is no regular file."""
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return _CREATED_WITH
    if not stat.S_ISREG(found):
        raise DataError(f"{path} is {what_it_is(found)}, not a regular file, and is left alone; choose another name")
    return stat.S_IMODE(found) & _CREATED_WITH


def _temporary(path: Path) -> Path:
    return path.with_name(f"{_prefix(path)}{os.getpid()}-{secrets.token_hex(4)}.part")


def _prefix(path: Path) -> str:
    """How temporary names for this target begin on this machine; short, so that every legal name can have one."""
    target = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    machine = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
    return f".springback-{target}-{machine}-"


def _remove_stale(path: Path) -> None:
    """Remove what killed writers of this target left behind: temporary files whose process no longer exists."""
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
    """Whether a process of this machine exists; where that cannot be asked safely, it is taken to."""
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
    """Give the present version its second name, `NAME.previous`, without taking away its first."""
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
        second.unlink(missing_ok=True)  # renaming one name of a file to another of the same file leaves both


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
