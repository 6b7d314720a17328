"""Splits on disk, so that a network runs over its stream only once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from springback import check
from springback.check import DataError
from springback.files.container import opened, read, write
from springback_bench.stream_sets.record import StreamSplit


class SplitSizes(NamedTuple):
    """Frames of the validation streams and of the test streams together, and classes of the head."""

    validation: int
    test: int
    classes: int


@dataclass(frozen=True, eq=False)
class SavedSplit:
    """A split, and the version of the code that made it."""

    version: int
    split: StreamSplit


def save_split(split: StreamSplit, path: Path, *, version: int) -> None:
    """Write a split; `version` is that of the code that made it."""
    write(path, "data", SavedSplit(version, split), about=_identity(split.name, split.split, version))


def load_split(path: Path, name: str, number: int, *, version: int) -> StreamSplit:
    """Load and check a split; one that is damaged or that other code made is refused."""
    saved = read(path, "data", SavedSplit)
    _refuse_another(path, _identity(saved.split.name, saved.split.split, saved.version), name, number, version)
    return saved.split


def read_sizes(path: Path, name: str, number: int, *, version: int) -> SplitSizes:
    """The sizes of a split, without loading it; one that is damaged or that other code made is refused."""
    with opened(path, "data") as file:
        _refuse_another(path, file.about, name, number, version)
        frames = {
            part: sum(
                file.shape(one)[0] for one in file.names if one.startswith(f"split.{part}.") and one.endswith("labels")
            )
            for part in ("validation", "test")
        }
        return SplitSizes(**frames, classes=file.shape("split.head.bias")[0])


def _identity(name: str, number: int, version: int) -> dict[str, str]:
    return {"name": name, "split": str(number), "version": str(version)}


def _refuse_another(path: Path, found: Mapping[str, str], name: str, number: int, version: int) -> None:
    for key, value in _identity(name, number, version).items():
        if found.get(key) != value:
            raise DataError(f"{path} must be of {key} {value}; it says {check.shown(found.get(key))}")
