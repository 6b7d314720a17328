"""All stream sets by name. A file of this package that defines `STREAM_SETS` registers itself."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report, folder_of, refuse_unless_writable
from springback.extras import collect, require_extra
from springback_bench.stream_sets.record import StreamSplit
from springback_bench.stream_sets.split_file import SplitSizes, load_split, read_sizes, save_split

Make = Callable[[int, Path, Report], StreamSplit]
"""Makes a split: (its number, the data home, where to report progress) -> the split."""


@dataclass(frozen=True, kw_only=True)
class StreamSet:
    """A kind of stream, with its splits.

    Parameters
    ----------
    name : str
        As users write it, such as "coil-known".
    title : str
        What the stream shows and what is recognised, in one sentence.
    splits : int
        Number of splits, or of seeds where splits are drawn at random.
    make : Make
        Makes a split from the packages of the registries.
    version : int
        Counts the changes of `make` that change the stream.
    real : bool
        Whether a sensor recorded it: not drawn by us.
    needs : tuple[str, ...]
        Optional libraries that `make` needs.
    source : str
        Where data and network come from, with their licences, in one or two sentences.
    step : str
        What one frame is, such as "5 degrees of turn".
    """

    name: str
    title: str
    splits: int
    make: Make
    version: int = 1
    real: bool = True
    needs: tuple[str, ...] = ()
    source: str
    step: str


@cache
def stream_sets() -> dict[str, StreamSet]:
    """Every stream set by name.

    Examples
    --------
    >>> stream_sets()["coil-known"].splits
    3
    """
    return {one.name: one for sets in collect("springback_bench.stream_sets", "STREAM_SETS") for one in sets}


def load_stream(
    name: str,
    split: int = 0,
    *,
    data_home: str | os.PathLike[str] | None = None,
    report: Report = lambda _: None,
) -> StreamSplit:
    """A split of a stream set, fetched and computed on first use, then read from the data home.

    Parameters
    ----------
    name : str
        One of `stream_sets()`.
    split : int
        0 ... splits - 1.
    data_home : str | os.PathLike[str] | None
        Folder for data sets; None: `SPRINGBACK_DATA`, or else the user's cache folder.
    report : Report
        Receives a line about each step that takes long.

    Examples
    --------
    >>> load_stream("aquarium")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: name must be one of ...; got 'aquarium'
    """
    chosen = stream_sets()[check.one_of("name", name, tuple(stream_sets()))]
    check.integer("split", split, low=0, high=chosen.splits - 1)
    home = folder_of(data_home)
    path = _path_of(name, split, home)
    if path.exists():
        try:
            return load_split(path, name, split, version=chosen.version)
        except DataError as error:
            report(f"{error}; making it again")
    require_extra(f"the stream {name}", *chosen.needs)
    refuse_unless_writable(path.parent)
    made = chosen.make(split, home, report)
    save_split(made, path, version=chosen.version)
    return made


def sizes_made(name: str, split: int = 0, *, data_home: str | os.PathLike[str] | None = None) -> SplitSizes | None:
    """The sizes of a split that is in the data home already; None if it is not, or is damaged or outdated.

    Examples
    --------
    >>> sizes_made("coil-known", data_home="a folder without data") is None
    True
    """
    chosen = stream_sets()[check.one_of("name", name, tuple(stream_sets()))]
    try:
        return read_sizes(_path_of(name, split, folder_of(data_home)), name, split, version=chosen.version)
    except DataError:
        return None


def _path_of(name: str, split: int, home: Path) -> Path:
    return home / "streams" / f"{name}-{split}.safetensors"
