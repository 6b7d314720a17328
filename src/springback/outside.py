"""The only entry for data from outside: files of limited size, and JSON that matches a schema.

Code that receives data from here does not have to check it again.
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
"""Size limit of JSON in bytes; anything larger is refused without reading it."""


def open_regular(path: Path, *, largest: int) -> IO[bytes]:
    """Open a regular file of at most `largest` bytes. A pipe, a device or a folder is refused without waiting."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(
            found.st_mode
        ):  # checked before it is opened, because opening a device can already have an effect
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


def from_json(text: str | bytes, kind: type[Kind]) -> Kind:
    """Decode JSON as a value of the given type: no missing or unknown fields, finite numbers, limited nesting.

    Anything else raises a one-line `ValueError`. The checks of a dataclass's own `__post_init__` apply too.

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
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(" ".join(str(error).split())) from error  # the message may quote the file
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    return from_plain(plain, kind)


def from_plain(plain: Any, kind: type[Kind]) -> Kind:
    """Decoded JSON as a value of the given type, under the rules of `from_json`.

    Examples
    --------
    >>> from_plain([1, 2], tuple[int, ...])
    (1, 2)
    """
    try:
        found = msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error
    if not _same(plain, found):
        raise ValueError("it has unknown or missing fields")
    return found


def _same(given: Any, taken: Any) -> bool:
    """Whether the decoded value holds exactly what was given: nothing was dropped, and nothing was filled in."""
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
