"""Arrays that several splits share, such as features of training examples: computed once, kept in the data home."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from springback.check import DataError
from springback.files.container import read, write


@dataclass(frozen=True, eq=False)
class SharedArrays:
    """Arrays, and the version of the code that made them."""

    version: int
    arrays: dict[str, NDArray[Any]]


def kept(
    home: Path, name: str, make: Callable[[], dict[str, NDArray[Any]]], *, version: int = 1
) -> dict[str, NDArray[Any]]:
    """The arrays of a file in the folder `streams` of the data home; made and written if it is missing or damaged.

    Parameters
    ----------
    version : int
        Counts the changes of `make` that change the arrays; a file of another version is made again.
    """
    path = home / "streams" / f"{name}.safetensors"
    try:
        found = read(path, "data", SharedArrays)
        if found.version == version:
            return found.arrays
    except DataError:
        pass
    arrays = make()
    write(path, "data", SharedArrays(version, arrays))
    return arrays
