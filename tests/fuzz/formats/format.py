"""What a format is, and how two loaded values are compared."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import torch
from springback.files.models import SavedModel
from springback.heads.onnx import OnnxStream
from springback.spiking import SpikingClassifier
from springback.spiking.stream import place_arrays
from springback.streaming.records import Video
from springback_paper.baselines.learning import Learner


@dataclass(frozen=True)
class Format:
    """A format.

    content  whole files of it
    load     reads one, or raises `DataError`
    use      works with what was read; may refuse it with `ValueError`, must not give NaN or crash
    sealed   whether a file carries a digest, so that no change to it goes unseen
    """

    name: str
    content: tuple[bytes, ...]
    load: Callable[[Path], Any]
    use: Callable[[Any], None]
    sealed: bool = True

    @property
    def is_json(self) -> bool:
        return self.content[0][:1] == b"{"


def written(write: Callable[[Path], None]) -> bytes:
    """What a function writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "file")
        return (Path(folder) / "file").read_bytes()


def require_finite(*arrays: Any) -> None:
    """Fail where a number is NaN or infinite."""
    for array in arrays:
        assert np.isfinite(array).all(), "a number is not finite"


def fingerprint(value: Any) -> Any:
    """Something that is equal for two loaded values if nothing in them differs."""
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, Video):
        inside: Any = [*(getattr(value, one.name) for one in fields(value) if one.name != "source"), value.frames]
    elif isinstance(value, torch.nn.Module):
        inside = [one.numpy() for one in value.state_dict().values()]
    elif isinstance(value, SavedModel):
        inside = [value._record(), value._state_arrays()]
    elif isinstance(value, SpikingClassifier):
        inside = [value.model_, value.adapts, place_arrays(value.place_)]
    elif isinstance(value, OnnxStream):
        inside = [value.layout]
    elif isinstance(value, Learner):
        inside = list(value.moments().values())
    elif is_dataclass(value):
        inside = [getattr(value, one.name) for one in fields(value)]
    else:
        inside = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return [fingerprint(one) for one in inside] if isinstance(inside, list | tuple) else repr(inside)
