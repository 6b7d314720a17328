"""The result of a task on disk: a trained spiking network as a model file, anything else as a flat record."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from springback.paper.runner.record_file import KIND, load_record, save_record
from springback.spiking.model import SpikingModel
from springback.spiking.model_file import KIND as MODEL_KIND
from springback.spiking.model_file import load_model, save_model
from springback.storage import open_tensors


def save_result(result: Any, path: Path, *, metadata: Mapping[str, str]) -> None:
    """Write a result; `metadata` goes along with it and is not part of it."""
    save = save_model if isinstance(result, SpikingModel) else save_record
    save(result, path, metadata=metadata)


def load_result(path: Path, kind: type[Any]) -> Any:
    """The result of a file, which must be of the given class."""
    return load_model(path) if kind is SpikingModel else load_record(path, kind)


def result_metadata(path: Path, kind: type[Any]) -> Mapping[str, str]:
    """What was written along with a result."""
    with open_tensors(path, kind=MODEL_KIND if kind is SpikingModel else KIND) as file:
        return file.metadata
