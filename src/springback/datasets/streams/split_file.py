"""Splits on disk, so that a network runs over its stream only once."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.datasets.streams.record import Head, Stream, StreamSplit
from springback.storage import read_tensors, save_tensors

_KIND = "stream split"
_PARTS = ("validation", "test")


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
    wanted = {"name": name, "split": str(number), "version": str(version)}
    for key, value in wanted.items():
        if metadata.get(key) != value:
            raise DataError(f"{path} must be of {key} {value}; it says {check.shown(metadata.get(key))}")
    try:
        head = Head(**{field.name: tensors.pop(f"head.{field.name}") for field in fields(Head)})
        parts = {part: _streams(tensors, part, int(metadata[part])) for part in _PARTS}
        check.require(not tensors, "the file", "hold a head and streams alone", sorted(tensors)[:1])
        return StreamSplit(name=name, split=number, head=head, **parts)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path} is not a valid split: {error}") from error


def _streams(tensors: dict[str, NDArray[Any]], part: str, count: int) -> tuple[Stream, ...]:
    check.integer(part, count, low=1, high=10_000)
    return tuple(
        Stream(**{field.name: tensors.pop(f"{part}.{number}.{field.name}") for field in fields(Stream)})
        for number in range(count)
    )
