"""IDX files, the format of MNIST: read with size limits, and checked before use.

An IDX file is two zero bytes, a type byte (8: unsigned byte), the number of dimensions, each dimension as a big-endian
32-bit number, and the values in C order.
"""

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError


@dataclass(frozen=True)
class IdxFile:
    """One original file: its name, its exact shape and the SHA-256 of its uncompressed bytes."""

    name: str
    shape: tuple[int, ...]
    sha256: str

    @property
    def size(self) -> int:
        """Bytes of the uncompressed file: header and values."""
        return 4 + 4 * len(self.shape) + int(np.prod(self.shape))


def read_at_most(path: Path, limit: int) -> bytes:
    """The uncompressed bytes of a plain or gzipped file, never more than `limit + 1` of them."""
    try:
        with path.open("rb") as file:
            return uncompressed(file, path.name, limit)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read: {error}") from error


def uncompressed(file: IO[bytes], name: str, limit: int) -> bytes:
    """The bytes of an open file, gzipped if its name ends in .gz, never more than `limit + 1` of them."""
    if name.endswith(".gz"):
        with gzip.GzipFile(fileobj=file, mode="rb") as content:
            return content.read(limit + 1)
    return file.read(limit + 1)


def verify(content: bytes, file: IdxFile, origin: str) -> None:
    """Refuse bytes that are not exactly the original file."""
    if len(content) != file.size:
        came = f"more than {file.size:,}" if len(content) > file.size else f"{len(content):,}"
        raise DataError(f"{file.name} from {origin} must have {file.size:,} bytes; got {came}")
    found = hashlib.sha256(content).hexdigest()
    if found != file.sha256:
        raise DataError(f"{file.name} from {origin} must have SHA-256 {file.sha256}; got {found}")


def values(content: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The values of an IDX file of unsigned bytes with the given shape.

    Examples
    --------
    >>> values(encode(np.arange(6, dtype=np.uint8).reshape(2, 3)), (2, 3))
    array([[0, 1, 2], [3, 4, 5]], dtype=uint8)
    """
    header = _header(shape)
    if content[: len(header)] != header:
        raise DataError(
            f"not an IDX file of unsigned bytes with shape {shape}: its first bytes are {content[:4].hex()}"
        )
    return np.frombuffer(content, np.uint8, offset=len(header)).reshape(shape)


def encode(array: NDArray[np.uint8]) -> bytes:
    """The bytes of the IDX file that holds `array`."""
    return _header(array.shape) + array.tobytes()


def _header(shape: tuple[int, ...]) -> bytes:
    return bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
