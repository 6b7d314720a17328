"""Splits on disk, so that a network runs over its stream only once."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.datasets.streams.record import Head, Stream, StreamSplit
from springback.storage import open_tensors, read_tensors, save_tensors

_KIND = "stream split"
_PARTS = ("validation", "test")


class SplitSizes(NamedTuple):
    """Frames of the validation streams and of the test streams together, and classes of the head."""

    validation: int
    test: int
    classes: int


def save_split(split: StreamSplit, path: Path, *, version: int) -> None:
    """Write a split; `version` is that of the code that made it."""
    tensors = {f"head.{field.name}": getattr(split.head, field.name) for field in fields(Head)}
    for part in _PARTS:
        for number, stream in enumerate(getattr(split, part)):
            tensors |= {f"{part}.{number}.{field.name}": getattr(stream, field.name) for field in fields(Stream)}
    counts = {part: str(len(getattr(split, part))) for part in _PARTS}
    about = {"name": split.name, "split": str(split.split), "version": str(version), **counts}
    save_tensors(path, tensors, kind=_KIND, metadata=about)


def load_split(path: Path, name: str, number: int, *, version: int) -> StreamSplit:
    """Load and check a split; one that is damaged or that other code made is refused."""
    tensors, metadata = read_tensors(path, kind=_KIND)
    _refuse_another(path, metadata, name, number, version)
    try:
        head = Head(**{field.name: tensors.pop(f"head.{field.name}") for field in fields(Head)})
        parts = {part: _streams(tensors, part, int(metadata[part])) for part in _PARTS}
        check.require(not tensors, "the file", "hold a head and streams alone", sorted(tensors)[:1])
        return StreamSplit(name=name, split=number, head=head, **parts)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is not a valid split: {error}") from error


def read_sizes(path: Path, name: str, number: int, *, version: int) -> SplitSizes:
    """The sizes of a split, without loading it; one that is damaged or that other code made is refused."""
    with open_tensors(path, kind=_KIND) as file:
        _refuse_another(path, file.metadata, name, number, version)
        frames = {
            part: sum(file.shape(one)[0] for one in file.names if one.startswith(part) and one.endswith("labels"))
            for part in _PARTS
        }
        return SplitSizes(**frames, classes=file.shape("head.bias")[0])


def _refuse_another(path: Path, metadata: Mapping[str, str], name: str, number: int, version: int) -> None:
    for key, value in {"name": name, "split": str(number), "version": str(version)}.items():
        if metadata.get(key) != value:
            raise DataError(f"{path} must be of {key} {value}; it says {check.shown(metadata.get(key))}")


def _streams(tensors: dict[str, NDArray[Any]], part: str, count: int) -> tuple[Stream, ...]:
    check.integer(part, count, low=1, high=10_000)
    return tuple(
        Stream(**{field.name: tensors.pop(f"{part}.{number}.{field.name}") for field in fields(Stream)})
        for number in range(count)
    )
