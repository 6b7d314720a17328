"""Tasks that compute next to nothing, for the tests of the runner; in a module that workers can import."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.paper.runner.task import Task


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Random numbers and their sum."""

    total: float
    values: NDArray[np.float64]
    worker: int = 0


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many numbers to draw, and a folder for marks of what has begun, who is busy and who has to wait."""

    n: int = 5
    marks: str = ""


def is_held(marks: Path, seed: int, nth: int) -> bool:
    """Whether a task must wait: all but the first three if `hold-late` is there; on a process, all but the first."""
    late = nth > 3 and (marks / "hold-late").exists()
    return late or (seed != 0 and (marks / f"hold-{os.getpid()}").exists())


def draw(params: Count, seed: int, inputs: Mapping[str, Any]) -> Drawn:
    if params.marks:
        marks = Path(params.marks)
        (marks / f"begun-{seed}-{time.time_ns()}").touch()
        nth, busy = len(list(marks.glob("begun-*"))), marks / f"busy-{os.getpid()}"
        while is_held(marks, seed, nth):
            busy.touch()
            time.sleep(0.02)
        busy.unlink(missing_ok=True)
    values = np.random.default_rng(seed).random(params.n) + sum(one.total for one in inputs.values())
    return Drawn(total=float(values.sum()), values=values)


def fail(params: Any, seed: int, inputs: Mapping[str, Any]) -> Drawn:  # noqa: ARG001
    raise ValueError("n must be > 0; got -1")


def die_once(params: Count, seed: int, inputs: Mapping[str, Any]) -> Drawn:
    mark = Path(params.marks, "died")
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return draw(params, seed, inputs)


def not_a_record(params: Any, seed: int, inputs: Mapping[str, Any]) -> Drawn:  # noqa: ARG001
    return Drawn(total=np.float64(1.0), values=np.zeros(1))


def diamond(params: Any = None, *, seconds: float = 1.0) -> list[Task]:
    """One task, six that need it, and one that needs all six."""
    params = params or Count()
    middle = [
        Task(name=f"middle-{i}", run=draw, params=params, seed=i, needs={"first": "first"}, seconds=seconds)
        for i in range(1, 7)
    ]
    last = Task(name="last", run=draw, params=params, seed=9, needs={one.name: one.name for one in middle})
    return [last, *middle, Task(name="first", run=draw, params=params, seed=0, needs={})]
