"""One container for everything that springback writes: a record and its arrays, as a safetensors file with a digest.

A file says of which of a few kinds it is, and holds one record (see `springback.files.records`): plain values as JSON
in the metadata, arrays as tensors. The digest is the SHA-256 of the whole file, computed with zeros in place of its own
64 characters. It is the first entry of the metadata and therefore at a fixed position, where it can be filled in after
the last row of a large array; other readers of safetensors see a string. A file in which a single bit has changed is
refused when it is opened.
"""

import hashlib
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from springback import __version__, check
from springback.check import DataError
from springback.files.atomic import atomic_file, previous_path
from springback.files.records import TYPE, LargeArray, decoded, put_together, take_apart
from springback.files.regular import LARGEST_TEXT, open_regular

KINDS = ("model", "state", "checkpoint", "recording", "video", "data", "result")
"""What a file can be; which record it holds says more."""

FORMAT = "3"
"""Version of the layout of springback's files; it is part of the metadata of every file."""

LARGEST_FILE = 2**31
"""Size limit in bytes; a larger file is refused without reading it, unless the reader sets another limit."""

_NOT_FINITE = ("result",)
_CODES = {"bool": "BOOL", "float16": "F16", "float32": "F32", "float64": "F64"}
_CODES |= {f"{sign}int{bits}": f"{'U' if sign else 'I'}{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")}
_DTYPES = {code: name for name, code in _CODES.items()}
_BEGINNING = b'{"__metadata__":{"sha256":"'
_UNSEALED = b"0" * 64
_SEAL_AT = 8 + len(_BEGINNING)
_CHUNK = 2**20

Record = TypeVar("Record")
Loaded = TypeVar("Loaded")


class DamagedError(DataError):
    """A file is incomplete, or differs from what was written."""


def write(
    path: Path, kind: str, record: Any, *, about: Mapping[str, str] | None = None, keep_previous: bool = False
) -> None:
    """Write a record, complete even if the writer is killed.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    record : Any
        A dataclass or a named tuple of plain values, arrays and further records.
    about : Mapping[str, str] | None
        Notes that go along with the record and are not part of it.
    keep_previous : bool
        Keep the file that is replaced as `NAME.previous`.

    Examples
    --------
    >>> import tempfile
    >>> from springback.elastic.kernels import Exponential
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "kernel"), "result", Exponential(memory=2.0))
    ...     read(Path(folder, "kernel"), "result", Exponential)
    Exponential(memory=2.0, odds=1.0)
    """
    start, arrays = _start(kind, record, about or {})
    with atomic_file(path, keep_previous=keep_previous) as file:
        _write(file, start, arrays)


@overload
def read(path: Path, kind: str, record: type[Record], *, largest: int = ...) -> Record: ...
@overload
def read(
    path: Path, kind: str, record: type[Record], then: Callable[[Record], Loaded], *, largest: int = ...
) -> Loaded: ...
def read(
    path: Path,
    kind: str,
    record: type[Record],
    then: Callable[[Record], Loaded] | None = None,
    *,
    largest: int = LARGEST_FILE,
) -> Record | Loaded:
    """The record of a file of the given kind, verified; any other file is refused with a one-sentence `DataError`.

    Parameters
    ----------
    record : type
        The class of the record, or a union of classes.
    then : Callable[[Record], Loaded] | None
        Checks the record and makes something of it; a `TypeError` or `ValueError` means that the file is damaged.
    """
    with opened(path, kind, largest=largest) as file:
        found = file.record(record)
    return found if then is None else usable(path, kind, lambda: then(found))


def usable(path: Path | str, kind: str, make: Callable[[], Loaded]) -> Loaded:
    """What `make` makes of the content of a file; if it cannot, the file is damaged."""
    try:
        return make()
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError, KeyError) as error:
        raise DamagedError(f"{path} is not a usable {kind}: {error}") from error


def to_bytes(kind: str, record: Any) -> bytes:
    """The same container as bytes."""
    file = BytesIO()
    _write(file, *_start(kind, record, {}))
    return file.getvalue()


def from_bytes(name: str, content: bytes, kind: str, record: type[Record]) -> Record:
    """The record in bytes from `to_bytes`, verified; `name` is what an error message calls them."""
    return OpenFile(name, BytesIO(content), kind, None).record(record)


class Identity(NamedTuple):
    """Identifies a version of a file: device, inode, size, time of the last change."""

    device: int
    inode: int
    size: int
    changed_ns: int


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    dtype: str
    shape: tuple[Annotated[int, msgspec.Meta(ge=0)], ...]
    data_offsets: tuple[int, int]


class OpenFile:
    """An open file whose digest has been verified: its record, and its arrays by name."""

    def __init__(self, path: Path | str, file: IO[bytes], kind: str, verified: Identity | None) -> None:
        self._path, self._file, self._kind = path, file, kind
        self._identity = _identity(file)
        size, header = _header(path, file)
        self.about = _metadata(path, header, kind)
        if verified is None:
            _verify(path, file)
        elif verified != self._identity:
            raise DataError(f"{path} has changed since it was opened; open it again")
        self._data = 8 + size
        self._entries = _entries(path, header, self._identity.size - self._data)
        self.names: tuple[str, ...] = tuple(self._entries)

    def record(self, kind: type[Record]) -> Record:
        """The record, if it is of the given class or one of a union of classes."""
        plain = usable(self._path, self._kind, lambda: decoded(self.about.get("record", "")))
        holds = plain.get(TYPE) if isinstance(plain, dict) else None
        wanted = [one.__name__ for one in getattr(kind, "__args__", (kind,))]
        if isinstance(holds, str) and holds not in wanted:
            raise DataError(f"{self._path} holds a {check.shown(holds)[1:-1]}, not a {' or '.join(wanted)}")
        return usable(
            self._path, self._kind, lambda: put_together(plain, kind, self, finite=self._kind not in _NOT_FINITE)
        )

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        return self._entries[name].shape

    def array(self, name: str) -> NDArray[Any]:
        """A copy of an array."""
        entry = self._entries[name]
        found = self._read(name, entry.data_offsets[0], entry.shape)
        if found.dtype == np.bool_:
            check.require(bool((found.view(np.uint8) <= 1).all()), name, "be 0 or 1 everywhere", "other numbers")
        return found

    def large(self, name: str) -> LargeArray:
        """An array that stays on disk; its file is opened again, and must not have changed, whenever rows are read."""
        path, entry = self._path, self._entries[name]
        assert isinstance(path, Path)

        def rows(start: int, stop: int) -> NDArray[Any]:
            with opened(path, self._kind, largest=sys.maxsize, verified=self._identity) as again:
                return again._rows(name, start, stop)

        return LargeArray(_DTYPES[entry.dtype], entry.shape, rows)

    def _rows(self, name: str, start: int, stop: int) -> NDArray[Any]:
        entry = self._entries[name]
        row = np.dtype(_DTYPES[entry.dtype]).itemsize * math.prod(entry.shape[1:])
        return self._read(name, entry.data_offsets[0] + row * start, (stop - start, *entry.shape[1:]))

    def _read(self, name: str, at: int, shape: tuple[int, ...]) -> NDArray[Any]:
        dtype = np.dtype(_DTYPES[self._entries[name].dtype]).newbyteorder("<")
        try:
            found = np.empty(shape, dtype)
        except ValueError as error:  # an empty array whose other axes are too long for NumPy
            raise _damaged(self._path, f"{name} has shape {shape}") from error
        self._file.seek(self._data + at)
        if self._file.readinto(found.reshape(-1).view(np.uint8).data) != found.nbytes:  # type: ignore[attr-defined]
            raise _damaged(self._path, f"{name} is incomplete")
        return found.astype(dtype.newbyteorder("="), copy=False)


@contextmanager
def opened(
    path: Path, kind: str, *, largest: int = LARGEST_FILE, verified: Identity | None = None
) -> Iterator[OpenFile]:
    """Open and verify a file of the given kind, to read only some of it.

    Parameters
    ----------
    verified : Identity | None
        Identity of the file when it was verified before: the digest is not computed again, but the file must not have
        changed.
    """
    try:
        with open_regular(path, largest=largest) as file:
            yield OpenFile(path, file, kind, verified)
    except OSError as error:
        raise _damaged(path, str(error)) from error


def kind_of(path: Path) -> tuple[str, str]:
    """The kind that a file says it is, and the record it says it holds; nothing is verified yet."""
    with open_regular(path, largest=LARGEST_FILE) as file:
        metadata = _notes(path, _header(path, file)[1])
    try:
        plain = decoded(metadata.get("record", "{}"))
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    return metadata.get("springback", ""), str(plain.get(TYPE, "")) if isinstance(plain, dict) else ""


def _start(kind: str, record: Any, about: Mapping[str, str]) -> tuple[bytes, Mapping[str, NDArray[Any] | LargeArray]]:
    """The bytes before the arrays, with zeros for the digest, and the arrays."""
    check.one_of("kind", kind, KINDS)
    plain, arrays = take_apart(record)
    ours = {
        "springback": kind,
        "format": FORMAT,
        "springback_version": __version__,
        "record": msgspec.json.encode(plain).decode(),
    }
    header: dict[str, Any] = {"__metadata__": {"sha256": _UNSEALED.decode(), **about, **ours}}
    offset = 0
    for name, array in arrays.items():
        dtype = np.dtype(array.dtype)
        if dtype.name not in _CODES:
            raise TypeError(f"{name} must be an array of numbers to be saved; got {dtype}")
        end = offset + dtype.itemsize * math.prod(array.shape)
        header[name] = _Entry(_CODES[dtype.name], array.shape, (offset, end))
        offset = end
    text = msgspec.json.encode(header)
    text += b" " * (-len(text) % 8)
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"the plain values of a file must not exceed {LARGEST_TEXT:,} bytes; got {len(text):,}")
    return len(text).to_bytes(8, "little") + text, arrays


def _write(file: IO[bytes], start: bytes, arrays: Mapping[str, NDArray[Any] | LargeArray]) -> None:
    digest = hashlib.sha256(start)
    file.write(start)
    for name, array in arrays.items():
        for content in _contents(name, array):
            file.write(content)
            digest.update(content)
    file.seek(_SEAL_AT)
    file.write(digest.hexdigest().encode())


def _contents(name: str, array: NDArray[Any] | LargeArray) -> Iterator[memoryview]:
    """The bytes of an array, little-endian; a large one must give as many rows as it announced."""
    dtype = np.dtype(array.dtype).newbyteorder("<")
    if isinstance(array, np.ndarray):
        yield np.ascontiguousarray(array, dtype).reshape(-1).view(np.uint8).data
        return
    length = array.shape[0]
    step = max(1, _CHUNK // max(1, dtype.itemsize * math.prod(array.shape[1:])))
    for begin in range(0, length, step):
        end = min(begin + step, length)
        rows = np.ascontiguousarray(array.rows(begin, end), dtype)
        check.require(
            rows.shape == (end - begin, *array.shape[1:]), f"the rows of {name}", "fill its shape", rows.shape
        )
        yield rows.reshape(-1).view(np.uint8).data


def _header(path: Path | str, file: IO[bytes]) -> tuple[int, dict[str, msgspec.Raw]]:
    size = int.from_bytes(file.read(8), "little")
    if size > LARGEST_TEXT:
        raise _damaged(path, f"its header claims {size:,} bytes")
    try:
        return size, msgspec.json.decode(file.read(size), type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _notes(path: Path | str, header: Mapping[str, msgspec.Raw]) -> dict[str, str]:
    try:
        return msgspec.json.decode(header.get("__metadata__", b"{}"), type=dict[str, str])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _metadata(path: Path | str, header: Mapping[str, msgspec.Raw], kind: str) -> dict[str, str]:
    found = _notes(path, header)
    says, form = check.shown(found.get("springback", "none")), check.shown(found.get("format"))
    if found.get("springback") != kind:
        raise DataError(f"{path} is not a springback {kind} file; it says it is {says}")
    if found.get("format") != FORMAT:
        raise DataError(f"{path} has format {form}; this version reads {FORMAT!r}; make it again")
    return found


def _entries(path: Path | str, header: Mapping[str, msgspec.Raw], size: int) -> dict[str, _Entry]:
    """Where each array is; the arrays must fill the file, one after the other, as springback writes them."""
    entries: dict[str, _Entry] = {}
    offset = 0
    for name, raw in header.items():
        if name == "__metadata__":
            continue
        try:
            entry = msgspec.json.decode(raw, type=_Entry)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise _damaged(path, str(error)) from error
        if entry.dtype not in _DTYPES:
            raise DamagedError(f"{path} must hold arrays of {', '.join(_CODES)}; {name} is {check.shown(entry.dtype)}")
        end = offset + np.dtype(_DTYPES[entry.dtype]).itemsize * math.prod(entry.shape)
        if entry.data_offsets != (offset, end):
            raise _damaged(path, f"{name} is not where its shape says")
        entries[name], offset = entry, end
    if offset != size:
        raise _damaged(path, "its arrays do not fill it")
    return entries


def _verify(path: Path | str, file: IO[bytes]) -> None:
    """Read the whole file once, in chunks, and compare its digest with the one it contains."""
    file.seek(0)
    start = file.read(_SEAL_AT + len(_UNSEALED))
    if start[8:_SEAL_AT] != _BEGINNING:
        raise _damaged(path, "it has no checksum")
    digest = hashlib.sha256(start[:_SEAL_AT] + _UNSEALED)
    while piece := file.read(_CHUNK):
        digest.update(piece)
    if start[_SEAL_AT:] != digest.hexdigest().encode():
        raise _damaged(path, "its checksum differs")


def _identity(file: IO[bytes]) -> Identity:
    if isinstance(file, BytesIO):
        return Identity(0, 0, file.getbuffer().nbytes, 0)
    found = os.fstat(file.fileno())
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _damaged(path: Path | str, reason: str) -> DamagedError:
    kept = ""
    if isinstance(path, Path) and (before := previous_path(path)).is_file():
        kept = f"; the previous version is {before}"
    return DamagedError(f"{path} is damaged or not a safetensors file ({reason}){kept}")
