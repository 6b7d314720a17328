"""Arrays on disk: safetensors files with metadata and a digest, complete even if the writer is killed.

The digest is the SHA-256 of the whole file, computed with zeros in place of its own 64 characters. It is the first
entry of the metadata and therefore at a fixed position, where it can be filled in after the last chunk of a stream;
other readers of safetensors see a string. A file in which a single bit has changed is refused when it is opened.
"""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from springback import check
from springback.atomic import atomic_file, previous_path
from springback.check import DataError
from springback.outside import LARGEST_TEXT, open_regular

FORMAT = "2"
"""Version of the layout of springback's files; it is part of the metadata of every file."""

LARGEST_FILE = 2**31
"""Size limit in bytes; a larger file is refused without reading it, unless the reader sets another limit."""

_DTYPES = {"U8": "uint8", "I16": "int16", "I32": "int32", "I64": "int64", "F32": "float32", "F64": "float64"}
_CODES = {name: code for code, name in _DTYPES.items()}
_BEGINNING = b'{"__metadata__":{"sha256":"'
_UNSEALED = b"0" * 64
_SEAL_AT = 8 + len(_BEGINNING)
_CHUNK = 2**20
_SHORT = 100

Loaded = TypeVar("Loaded")


class DamagedError(DataError):
    """A file is incomplete, or differs from what was written."""


@dataclass(frozen=True)
class StreamedTensor:
    """An array that is too large for memory: its dtype and shape, and its chunks along the first axis, in order."""

    dtype: str
    shape: tuple[int, ...]
    chunks: Iterable[NDArray[Any]]


class Identity(NamedTuple):
    """Identifies a version of a file: device, inode, size, time of the last change."""

    device: int
    inode: int
    size: int
    changed_ns: int


class TensorFile:
    """An open file whose digest has been verified: its metadata and its arrays by name."""

    def __init__(self, path: Path, file: Any, metadata: Mapping[str, str], identity: Identity) -> None:
        self._path, self._file = path, file
        self.metadata, self.identity = metadata, identity
        self.names: tuple[str, ...] = tuple(file.keys())

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        return tuple(self._file.get_slice(name).get_shape())

    def dtype(self, name: str) -> str:
        """The dtype of an array; a dtype that springback never writes is refused."""
        code = self._file.get_slice(name).get_dtype()
        if code not in _DTYPES:
            raise DamagedError(f"{self._path} must hold arrays of {', '.join(_CODES)}; {name} is {code}")
        return _DTYPES[code]

    def tensor(self, name: str) -> NDArray[Any]:
        """A copy of an array; an empty one whose other axes are too long for NumPy is refused."""
        self.dtype(name)
        try:
            found: NDArray[Any] = self._file.get_tensor(name)
        except ValueError as error:
            raise _damaged(self._path, f"{name} has shape {self.shape(name)}") from error
        return found

    def rows(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """A copy of the rows `start ... stop - 1` of an array."""
        if start == stop:  # safetensors accepts no empty slices
            return np.empty((0, *self.shape(name)[1:]), self.dtype(name))
        self.dtype(name)
        found: NDArray[Any] = self._file.get_slice(name)[start:stop]
        return found


def save_tensors(
    path: Path,
    tensors: Mapping[str, NDArray[Any] | StreamedTensor],
    *,
    kind: str,
    metadata: Mapping[str, str],
    keep_previous: bool = False,
) -> None:
    """Write named arrays as one safetensors file; `kind` is stored in the file and checked on loading."""
    ours = {"sha256": _UNSEALED.decode(), "springback": kind, "format": FORMAT}
    header: dict[str, Any] = {"__metadata__": {"sha256": "", **metadata, **ours}}
    offset = 0
    for name, tensor in tensors.items():
        dtype = np.dtype(tensor.dtype)
        if dtype.name not in _CODES:
            raise TypeError(f"{name} must be an array of {', '.join(_CODES)}; got {dtype}")
        size = dtype.itemsize * math.prod(tensor.shape)
        header[name] = {
            "dtype": _CODES[dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"the metadata of {path} must not exceed {LARGEST_TEXT:,} bytes; got {len(text):,}")
    start = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(start)
    with atomic_file(path, keep_previous=keep_previous) as file:
        file.write(start)
        for content in _contents(tensors):
            file.write(content)
            digest.update(content)
        file.seek(_SEAL_AT)
        file.write(digest.hexdigest().encode())


def _contents(tensors: Mapping[str, NDArray[Any] | StreamedTensor]) -> Iterator[memoryview]:
    """The bytes of all arrays in order, little-endian; a stream must have exactly the announced size."""
    for name, tensor in tensors.items():
        dtype = np.dtype(tensor.dtype).newbyteorder("<")
        left = dtype.itemsize * math.prod(tensor.shape)
        for chunk in tensor.chunks if isinstance(tensor, StreamedTensor) else [tensor]:
            content = np.ascontiguousarray(chunk, dtype)
            left -= content.nbytes
            yield content.reshape(-1).view(np.uint8).data
        if left != 0:
            raise ValueError(f"the chunks of {name} must fill its shape {tensor.shape}; they leave {left} bytes")


@contextmanager
def open_tensors(
    path: Path, *, kind: str, largest: int = LARGEST_FILE, verified: Identity | None = None
) -> Iterator[TensorFile]:
    """Open and verify a safetensors file of the given kind; any other file is refused with a one-sentence message.

    Parameters
    ----------
    verified : Identity | None
        Identity of the file when it was verified before: the digest is not computed again, but the file must not have
        changed.
    """
    try:
        with open_regular(path, largest=largest) as file:
            identity = _identity(os.fstat(file.fileno()))
            metadata = _metadata(path, file, kind)
            if verified is None:
                _verify(path, file)
            elif verified != identity:
                raise DataError(f"{path} has changed since it was opened; open it again")
        with safe_open(str(path), framework="numpy") as tensors:
            if _identity(os.stat(path)) != identity:
                raise DataError(f"{path} has changed while it was opened; open it again")
            yield TensorFile(path, tensors, metadata, identity)
    except (SafetensorError, OSError) as error:
        raise _damaged(path, str(error)) from error


def kind_of(path: Path) -> str:
    """The kind that a file says it is; what is no file of springback is refused. Nothing else is verified yet."""
    with open_regular(path, largest=LARGEST_FILE) as file:
        return _header(path, file).get("springback", "")


def read_tensors(
    path: Path, *, kind: str, largest: int = LARGEST_FILE
) -> tuple[dict[str, NDArray[Any]], Mapping[str, str]]:
    """All arrays and the metadata of a file of the given kind, verified."""
    with open_tensors(path, kind=kind, largest=largest) as file:
        return {name: file.tensor(name) for name in file.names}, file.metadata


def refuse_another_training(path: Path, metadata: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse a checkpoint of another training; the message quotes long values from where they differ."""
    for name, value in wanted.items():
        found = metadata.get(name, "missing")
        if found != value:
            alike = next((at for at, (a, b) in enumerate(zip(found, value, strict=False)) if a != b), 0)
            start = max(0, alike - _SHORT // 2) if len(value) > _SHORT else 0
            has, needs = (("..." if start else "") + one[start : start + _SHORT] for one in (found, value))
            raise DataError(
                f"{path} is of another training: its {name} is {' '.join(has.split())}, not {needs}; "
                "delete it to start again"
            )


def has_version(path: Path) -> bool:
    """Whether the file or its previous version exists."""
    return os.path.lexists(path) or os.path.lexists(previous_path(path))


def load_newest(path: Path, load: Callable[[Path], Loaded]) -> Loaded:
    """Apply `load` to the file or, with a warning, to `NAME.previous` if the file is missing or damaged."""
    try:
        return load(path)
    except DataError as error:
        damaged = isinstance(error, DamagedError) or not os.path.lexists(path)
        before = previous_path(path)
        if not damaged or not before.is_file():
            raise
        found = load(before)
        warnings.warn(f"{error}; continuing from the previous version, {before}", stacklevel=2)
        return found


class _Header(msgspec.Struct, rename={"metadata": "__metadata__"}):
    metadata: dict[str, str] = {}


def _header(path: Path, file: IO[bytes]) -> Mapping[str, str]:
    size = int.from_bytes(file.read(8), "little")
    if size > LARGEST_TEXT:
        raise _damaged(path, f"its header claims {size:,} bytes")
    try:
        return msgspec.json.decode(file.read(size), type=_Header).metadata
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _damaged(path, str(error)) from error


def _metadata(path: Path, file: IO[bytes], kind: str) -> Mapping[str, str]:
    found = _header(path, file)
    says, form = check.shown(found.get("springback", "none")), check.shown(found.get("format"))
    if found.get("springback") != kind:
        raise DataError(f"{path} is not a springback {kind} file; it says it is {says}")
    if found.get("format") != FORMAT:
        raise DataError(f"{path} has format {form}; this version reads {FORMAT!r}; make it again")
    return found


def _verify(path: Path, file: IO[bytes]) -> None:
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


def _identity(found: os.stat_result) -> Identity:
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _damaged(path: Path, reason: str) -> DamagedError:
    before = previous_path(path)
    kept = f"; the previous version is {before}" if before.is_file() else ""
    return DamagedError(f"{path} is damaged or not a safetensors file ({reason}){kept}")
