"""The one door for data from outside: files of a bounded size, JSON of a known shape.

What has come through here can be trusted by everything behind it.
"""

import os
import stat
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from springback.atomic import what_it_is
from springback.check import DataError

Kind = TypeVar("Kind")

LARGEST_TEXT = 16 * 2**20
"""Bytes of JSON; more is refused unread."""


def open_regular(path: Path, *, largest: int) -> IO[bytes]:
    """An open regular file of at most `largest` bytes. A pipe, device or folder is refused, never waited for."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):  # looked at before it is opened: opening a device may already act on it
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
    """The content of a regular file of at most `largest` bytes, also if it grows while it is read."""
    try:
        with open_regular(path, largest=largest) as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > largest:
        raise DataError(f"{path} must not exceed {largest:,} bytes; it grows while it is read")
    return content


def from_json(text: str | bytes, kind: type[Kind]) -> Kind:
    """JSON as a value of the given type: every field present, none unknown, every number finite, not too deep.

    Anything else is a `ValueError` in one line. A dataclass refuses what its own `__post_init__` refuses.

    Examples
    --------
    >>> from_json('{"a": 1e400}', dict[str, float])
    Traceback (most recent call last):
    ValueError: Number out of range - at `$[...]`
    """
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"JSON must not exceed {LARGEST_TEXT:,} bytes; got {len(text):,}")
    try:
        plain: Any = msgspec.json.decode(text)
        found = msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(" ".join(str(error).split())) from error  # it may repeat a name that the file made up
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    if not _same(plain, found):
        raise ValueError("it has unknown or missing fields")
    return found


def _same(given: Any, taken: Any) -> bool:
    """Whether every value that was given was taken, and none was filled in."""
    if is_dataclass(taken):
        taken = {field.name: getattr(taken, field.name) for field in fields(taken)}
    elif isinstance(taken, msgspec.Struct):
        taken = msgspec.structs.asdict(taken)
    if isinstance(given, dict) and isinstance(taken, dict):
        return given.keys() == taken.keys() and all(_same(given[key], taken[key]) for key in given)
    if isinstance(given, list) and isinstance(taken, list | tuple):
        return len(given) == len(taken) and all(map(_same, given, taken))
    return bool(given == taken)


def _unreadable(path: Path, error: OSError) -> DataError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return DataError(f"{path} does not exist")
    return DataError(f"{path} cannot be read ({error.strerror or error})")
