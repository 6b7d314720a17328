"""How streams are followed, and the model that every process of Python loads once."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from springback.files.models import load_model
from springback.heads.elastic_head import ElasticHead
from springback.heads.keyed_states import HeadStates, ModelStates
from springback.heads.onnx import OnnxStream
from springback.streaming.stream_model import StreamModel


@dataclass(frozen=True, kw_only=True)
class Rule:
    """How streams are followed; `file` names the content of the model."""

    file: str
    groups: int
    step: float | None
    forget_after: float | None
    lateness: float | None
    replace_model: bool
    per_unit: int
    """How many of Spark's numbers are one unit of time."""

    words: bool
    """Whether labels are text."""


def shipped(context: Any, path: Path) -> str:
    """The name under which every executor finds a copy of a file, which it fetches once; it names the content."""
    from pyspark import SparkFiles

    content = path.read_bytes()
    name = f"springback-{hashlib.sha256(content).hexdigest()}{path.suffix}"
    if not Path(SparkFiles.get(name)).exists():
        served = Path(SparkFiles.getRootDirectory()) / "springback" / name
        served.parent.mkdir(exist_ok=True)
        served.write_bytes(content)
        context.addFile(str(served))
    return name


@lru_cache(maxsize=4)
def loaded_model(file: str) -> StreamModel:
    """The model, once in every process."""
    from pyspark import SparkFiles

    path = SparkFiles.get(file)
    model: StreamModel = OnnxStream(path, threads=1) if path.endswith(".onnx") else load_model(path)
    return model


@lru_cache(maxsize=4)
def states_of_model(model: StreamModel, *, timed: bool) -> HeadStates | ModelStates:
    """How the states of a model are kept; `timed`: it counts time in the unit that it is given, not in frames."""
    states = HeadStates(model) if isinstance(model, ElasticHead) else ModelStates(model)
    states.with_frozen = False
    states.memory_in_ = "time" if timed else model.memory_in_
    return states
