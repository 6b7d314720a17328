"""Arrays on disk: safetensors with metadata, written so that a crash at any moment leaves a whole file."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from springback.check import DataError

FORMAT = "1"
"""Version of the layout of springback's files; part of the metadata of each."""

_DTYPE_CODES = {"uint8": "U8", "int16": "I16", "int32": "I32", "int64": "I64", "float32": "F32", "float64": "F64"}


@dataclass(frozen=True)
class StreamedTensor:
    """An array too large to hold: its dtype and shape, and its pieces along the first axis, in order."""

    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]]


@contextmanager
def atomic_file(path: Path, *, keep_previous: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when complete: temporary, flushed, synced, renamed.

    With `keep_previous`, what stood there before stays beside it as `NAME.previous`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        if keep_previous and path.exists():
            os.replace(path, previous_path(path))
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def previous_path(path: Path) -> Path:
    """Where the version before the present one is kept.

    >>> previous_path(Path("model.safetensors")).name
    'model.safetensors.previous'
    """
    return path.with_name(path.name + ".previous")


def save_tensors(
    path: Path,
    tensors: Mapping[str, NDArray[Any] | StreamedTensor],
    *,
    kind: str,
    metadata: Mapping[str, str],
    keep_previous: bool = False,
) -> None:
    """Write named arrays as one safetensors file; `kind` says what the file is and is checked on loading."""
    header: dict[str, Any] = {"__metadata__": {**metadata, "springback": kind, "format": FORMAT}}
    offset = 0
    for name, tensor in tensors.items():
        dtype = np.dtype(tensor.dtype)
        size = dtype.itemsize * int(np.prod(tensor.shape, dtype=np.int64))
        header[name] = {
            "dtype": _DTYPE_CODES[dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with atomic_file(path, keep_previous=keep_previous) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            for piece in tensor.pieces if isinstance(tensor, StreamedTensor) else [tensor]:
                file.write(np.ascontiguousarray(piece).data)


@contextmanager
def open_tensors(path: Path, *, kind: str) -> Iterator[Any]:
    """An open safetensors file of the given kind; anything else is refused in one sentence."""
    if not path.is_file():
        raise DataError(f"{path} does not exist or is not a file")
    try:
        with safe_open(str(path), framework="numpy") as file:
            found = file.metadata() or {}
            if found.get("springback") != kind:
                raise DataError(
                    f"{path} is not a springback {kind} file; it says it is {found.get('springback', 'none')!r}"
                )
            if found.get("format") != FORMAT:
                raise DataError(f"{path} has format {found.get('format')!r}; this version reads {FORMAT!r}")
            yield file
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path} is damaged or not a safetensors file ({error})") from error


def _umask() -> int:
    """What the user withholds from others in new files; it can only be read by setting it."""
    withheld = os.umask(0o077)
    os.umask(withheld)
    return withheld


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
