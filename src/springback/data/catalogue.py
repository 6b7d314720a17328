"""Data sets of image files: their files and sources, and how they are downloaded, verified and stored."""

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from springback import check
from springback.check import DataError
from springback.data import idx, sources
from springback.data.idx import KNOWN_SUMS, IdxFile, SplitFiles
from springback.data.sources import Source
from springback.files.atomic import atomic_file
from springback.streaming.records import Images

Report = Callable[[str], None]
"""Receives a line about the current activity, for a progress display."""

SPLITS = ("train", "test")


@dataclass(frozen=True)
class Dataset:
    """A data set in IDX files: images and labels of both splits, and its sources in the order they are tried."""

    name: str
    files: SplitFiles
    sources: dict[str, Source]


def load(dataset: Dataset, split: str, data_home: str | os.PathLike[str] | None, report: Report) -> Images:
    """The images of one split, from the data home if they are there, else from the first source that works."""
    check.one_of("split", split, SPLITS)
    images, labels = dataset.files[split]
    content = obtain(dataset, (images, labels), folder_of(data_home), report)
    return Images(
        pixels=idx.values(content[images.name], images.shape),
        labels=idx.values(content[labels.name], labels.shape).astype(np.int64),
    )


def folder_of(data_home: str | os.PathLike[str] | None) -> Path:
    """The folder for data sets: the given one, or else `SPRINGBACK_DATA`, or else the user's cache folder."""
    given = data_home or os.environ.get("SPRINGBACK_DATA")
    if given:
        place = Path(given).expanduser()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISDIR(place.stat().st_mode):  # `exists` is False on Python 3.14 if the name is too long
                raise DataError(f"the data home {place} is not a folder")
        return place
    import pooch

    place = Path(pooch.os_cache("springback"))
    if not place.is_absolute():
        raise DataError("this user has no home folder; name a folder for data, or set SPRINGBACK_DATA")
    return place


def obtain(dataset: Dataset, files: Sequence[IdxFile], home: Path, report: Report) -> dict[str, bytes]:
    """The verified bytes of the files. A file in the data home that is damaged is an error, never silently replaced."""
    content = {}
    for file in files:
        found = _in_home(home, dataset.name, file)
        if found is not None:
            content[file.name] = found
    missing = [file for file in files if file.name not in content]
    if missing:
        refuse_unless_writable(home / dataset.name)
        fetched = _fetch(dataset, missing, report)
        for file in missing:
            _store(home / dataset.name / file.name, fetched[file.name])
        content |= fetched
    return content


def _in_home(home: Path, name: str, file: IdxFile) -> bytes | None:
    own = sources.find(home / name, file)
    path = own or sources.find(home, file)
    if path is None:
        return None
    try:
        content = idx.read_at_most(path, file.size)
        if own is None and hashlib.sha256(content).hexdigest() in KNOWN_SUMS - {file.sha256}:
            return None
        idx.verify(content, file, str(path))
    except DataError as error:
        raise DataError(f"{error}; delete {path} and run again to download it") from None
    return content


def _fetch(dataset: Dataset, files: Sequence[IdxFile], report: Report) -> dict[str, bytes]:
    reasons = []
    for where, source in dataset.sources.items():
        report(f"fetching {dataset.name} from {where}")
        try:
            content = source(files)
            for file in files:
                idx.verify(content[file.name], file, where)
        except Exception as error:  # Data from outside can cause any error, and the next source may still work.
            reasons.append(f"{where}: {sources.reason_of(error)}")
        else:
            return content
    names = ", ".join(file.name for file in files)
    raise DataError(
        f"{dataset.name}: no source gave {names} ({'; '.join(reasons)}); "
        "put the original files, plain or gzipped, in a folder and name it, or set SPRINGBACK_DATA to it"
    )


def refuse_unless_writable(folder: Path) -> None:
    """Refuse a folder that is not writable, before anything is downloaded."""
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise _unwritable(folder, error) from error


def _store(path: Path, content: bytes) -> None:
    try:
        with atomic_file(path) as file:
            file.write(content)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot write {path}: {error.strerror}; name another folder, or set SPRINGBACK_DATA")
