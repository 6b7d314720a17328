"""Arrays that several splits share, such as features of training examples: computed once, kept in the data home."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from springback.check import DataError
from springback.storage import read_tensors, save_tensors

_KIND = "shared part of streams"


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
        arrays, metadata = read_tensors(path, kind=_KIND)
        if metadata.get("version") == str(version):
            return arrays
    except DataError:
        pass
    arrays = make()
    save_tensors(path, arrays, kind=_KIND, metadata={"version": str(version)})
    return arrays
