"""Checkpoints of a training, which resumes from the newest one that is whole, and from no other training's."""

import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray

from springback import __version__
from springback.check import DataError
from springback.files.atomic import previous_path
from springback.files.container import DamagedError, read, write

Loaded = TypeVar("Loaded")
_SHORT = 100


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What identifies a training, and where it stands."""

    training: dict[str, str]
    arrays: dict[str, NDArray[Any]]


def write_checkpoint(path: Path, training: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write where a training stands; the checkpoint before it is kept as `NAME.previous`."""
    write(path, "checkpoint", Checkpoint(_described(training), dict(arrays)), keep_previous=True)


def read_checkpoint(
    path: Path, training: Mapping[str, str], then: Callable[[dict[str, NDArray[Any]]], Loaded]
) -> Loaded:
    """What `then` makes of the arrays of a checkpoint of that training; one of another training is refused.

    If the file is missing or damaged, the previous version is taken, with a warning.
    """

    def load(one: Path) -> Loaded:
        def of_this_training(found: Checkpoint) -> Loaded:
            _refuse_another(one, found.training, _described(training))
            return then(found.arrays)

        return read(one, "checkpoint", Checkpoint, of_this_training)

    return load_newest(path, load)


def has_version(path: Path) -> bool:
    """Whether the file or its previous version exists."""
    return os.path.lexists(path) or os.path.lexists(previous_path(path))


def load_newest(path: Path, load: Callable[[Path], Loaded]) -> Loaded:
    """Apply `load` to the file or, with a warning, to `NAME.previous` if the file is missing or damaged."""
    try:
        return load(path)
    except DataError as error:
        damaged = isinstance(error, DamagedError) or not os.path.lexists(path)
        before = previous_path(path)
        if not damaged or not before.is_file():
            raise
        found = load(before)
        warnings.warn(f"{error}; continuing from the previous version, {before}", stacklevel=2)
        return found


def _described(training: Mapping[str, str]) -> dict[str, str]:
    return {**training, "springback_version": __version__}


def _refuse_another(path: Path, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """The message quotes long values from where they differ."""
    for name, value in wanted.items():
        has = found.get(name, "missing")
        if has != value:
            alike = next((at for at, (a, b) in enumerate(zip(has, value, strict=False)) if a != b), 0)
            start = max(0, alike - _SHORT // 2) if len(value) > _SHORT else 0
            says, needs = (("..." if start else "") + one[start : start + _SHORT] for one in (has, value))
            raise DataError(
                f"{path} is of another training: its {name} is {' '.join(says.split())}, not {needs}; "
                "delete it to start again"
            )
