"""Checks of the files and folders that the user names, made before the work starts."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from springback.check import DataError
from springback.cli.errors import reason_of
from springback.files.atomic import what_it_is


def readable_file(option: str, path: Path, *, at_most: int | None = None) -> None:
    """Refuse anything but a readable regular file; a pipe or a device is not even opened.

    Parameters
    ----------
    at_most : int | None
        Bytes; None: any size.
    """
    try:
        found = path.stat()
        _refuse_unless_regular(option, path, found)
        path.open("rb").close()
    except FileNotFoundError:
        raise DataError(f"{option} {path} does not exist") from None
    except OSError as error:
        raise DataError(f"{option} {path} cannot be read: {reason_of(error)}") from error
    if at_most is not None and found.st_size > at_most:
        raise DataError(f"{option} {path} must have at most {at_most:,} bytes; it has {found.st_size:,}")


def new_file(
    option: str,
    path: Path,
    *,
    suffixes: Sequence[str] = (),
    overwrite: bool,
    beside: Sequence[str] = (),
    n_bytes: int = 0,
) -> None:
    """Refuse a file that could not be written when the work is done, or that is there already.

    Parameters
    ----------
    suffixes : Sequence[str]
        Allowed endings of its name; empty: any.
    overwrite : bool
        Whether an existing file may be replaced.
    beside : Sequence[str]
        Endings of further files that are written next to it.
    n_bytes : int
        Approximate number of bytes that will be written.
    """
    if suffixes and path.suffix not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}; got {path.name!r}")
    try:
        found = path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise DataError(f"{option} {path} cannot be written: {reason_of(error)}") from error
    else:
        _refuse_unless_regular(option, path, found)
        if not overwrite:
            raise DataError(f"{option} {path} exists already; add --overwrite to replace it")
    _refuse_unless_writable(option, path, path.parent, [path.name, *(path.name + end for end in beside)], n_bytes)


def writable_folder(option: str, path: Path, *, n_bytes: int = 0) -> None:
    """Refuse a folder in which nothing could be written when the work is done; it need not exist yet."""
    if path.exists() and not path.is_dir():
        raise DataError(f"{option} {path} must be a folder; it is {what_it_is(path.stat().st_mode)}")
    _refuse_unless_writable(option, path, path, [], n_bytes)


@contextmanager
def writing(option: str, path: Path) -> Iterator[None]:
    """Report an error while a file is written (such as a full disk) with the name of that file."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{option} {path} cannot be written: {reason_of(error)}") from error


def _refuse_unless_writable(option: str, path: Path, folder: Path, names: Sequence[str], n_bytes: int) -> None:
    """Try to write in the nearest existing folder, and leave nothing there."""
    try:
        there = folder.absolute()
        missing: list[str] = []
        while not there.exists() and there != there.parent:
            missing.append(there.name)
            there = there.parent
        longest = os.pathconf(there, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
        handle, probe = tempfile.mkstemp(dir=there)
        os.close(handle)
        os.unlink(probe)
        free = shutil.disk_usage(there).free
    except OSError as error:
        raise DataError(f"{option} {path} cannot be written: {reason_of(error)}") from error
    for name in [*missing, *(f".{name}.12345678" for name in names)]:  # the length of a temporary file's name
        if len(os.fsencode(name)) > longest:
            raise DataError(f"{option} {path} cannot be written: its name is too long")
    if free < n_bytes:
        raise DataError(f"{option} {path} takes about {n_bytes:,} bytes; only {free:,} are free there")


def _refuse_unless_regular(option: str, path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{option} must be a regular file; {path} is {what_it_is(found.st_mode)}")
