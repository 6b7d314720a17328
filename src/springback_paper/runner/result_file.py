"""The result of a task on disk: a trained spiking network as a model file, any other record as a result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from springback.files.container import opened, read, write
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import load_spiking_model, save_spiking_model


def save_result(result: Any, path: Path, *, about: Mapping[str, str]) -> None:
    """Write a result; the notes `about` it go along with it and are not part of it."""
    if isinstance(result, SpikingModel):
        save_spiking_model(result, path, about=about)
    else:
        write(path, "result", result, about=about)


def load_result(path: Path, kind: type[Any]) -> Any:
    """The result of a file, which must be of the given class."""
    return load_spiking_model(path) if kind is SpikingModel else read(path, "result", kind)


def notes_about(path: Path, kind: type[Any]) -> Mapping[str, str]:
    """What was written along with a result."""
    with opened(path, "model" if kind is SpikingModel else "result") as file:
        return file.about
