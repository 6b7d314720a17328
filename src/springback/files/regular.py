"""Regular files of limited size: the only way in which springback opens a file from outside."""

import os
import stat
from pathlib import Path
from typing import IO

from springback.check import DataError
from springback.files.atomic import what_it_is

LARGEST_TEXT = 16 * 2**20
"""Size limit of text in bytes; anything larger is refused without reading it."""


def open_regular(path: Path, *, largest: int) -> IO[bytes]:
    """Open a regular file of at most `largest` bytes. A pipe, a device or a folder is refused without waiting."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):  # before it is opened, because opening a device can already have an effect
            raise DataError(f"{path} is {what_it_is(found.st_mode)}, not a regular file")
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise _unreadable(path, error) from error
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        os.close(handle)
        raise DataError(f"{path} is {what_it_is(found.st_mode)}, not a regular file")
    if found.st_size > largest:
        os.close(handle)
        raise DataError(f"{path} must not exceed {largest:,} bytes; it has {found.st_size:,}")
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, *, largest: int = LARGEST_TEXT) -> bytes:
    """The content of a regular file of at most `largest` bytes; a file that grows beyond this is refused as well."""
    try:
        with open_regular(path, largest=largest) as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > largest:
        raise DataError(f"{path} must not exceed {largest:,} bytes; it grows while it is read")
    return content


def _unreadable(path: Path, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return DataError(f"{path} does not exist")
    return DataError(f"{path} cannot be read ({error.strerror or error})")
