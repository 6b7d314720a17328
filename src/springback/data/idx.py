"""IDX files, the format of MNIST: read with size limits, and checked before use.

An IDX file is two zero bytes, a type byte (8: unsigned byte), the number of dimensions, each dimension as a big-endian
32-bit number, and the values in C order. The original files of MNIST and Fashion-MNIST are named here, with the SHA-256
checksums of their uncompressed bytes.
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


SplitFiles = dict[str, tuple[IdxFile, IdxFile]]


def _mnist_like(train_images: str, train_labels: str, test_images: str, test_labels: str) -> SplitFiles:
    return {
        "train": (
            IdxFile("train-images-idx3-ubyte", (60_000, 28, 28), train_images),
            IdxFile("train-labels-idx1-ubyte", (60_000,), train_labels),
        ),
        "test": (
            IdxFile("t10k-images-idx3-ubyte", (10_000, 28, 28), test_images),
            IdxFile("t10k-labels-idx1-ubyte", (10_000,), test_labels),
        ),
    }


MNIST_FILES = _mnist_like(
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
)
FASHION_MNIST_FILES = _mnist_like(
    "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
)
KNOWN_SUMS = frozenset(
    file.sha256 for files in (MNIST_FILES, FASHION_MNIST_FILES) for pair in files.values() for file in pair
)
"""All checksums above: a file with one of them is intact, although it may belong to the other data set."""


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
