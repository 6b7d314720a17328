"""Tasks that compute next to nothing, for the tests of the runner; in a module that workers can import."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback_paper.runner.task import Task


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Random numbers and their sum."""

    total: float
    values: NDArray[np.float64]
    worker: int = 0


def is_held(marks: Path, seed: int, nth: int) -> bool:
    """Whether a task must wait: all but the first three if `hold-late` is there; on a process, all but the first."""
    late = nth > 3 and (marks / "hold-late").exists()
    return late or (seed != 0 and (marks / f"hold-{os.getpid()}").exists())


def draw(n: int = 5, marks: str = "", seed: int = 0, **inputs: Drawn) -> Drawn:
    """Draw `n` numbers; `marks` is a folder for marks of what has begun, who is busy and who has to wait."""
    if marks:
        folder = Path(marks)
        (folder / f"begun-{seed}-{time.time_ns()}").touch()
        nth, busy = len(list(folder.glob("begun-*"))), folder / f"busy-{os.getpid()}"
        while is_held(folder, seed, nth):
            busy.touch()
            time.sleep(0.02)
        busy.unlink(missing_ok=True)
    values = np.random.default_rng(seed).random(n) + sum(one.total for one in inputs.values())
    return Drawn(total=float(values.sum()), values=values)


def fail(**_: Any) -> Drawn:
    raise ValueError("n must be > 0; got -1")


def die_once(marks: str, seed: int) -> Drawn:
    mark = Path(marks, "died")
    if not mark.exists():
        mark.touch()
        os._exit(1)
    return draw(marks=marks, seed=seed)


def not_a_record(**_: Any) -> Drawn:
    return Drawn(total=object(), values=np.zeros(1))


def diamond(params: dict[str, Any] | None = None, *, seconds: float = 1.0) -> list[Task]:
    """One task, six that need it, and one that needs all six."""
    params = params or {}
    middle = [
        Task(name=f"middle-{i}", run=draw, params=params, seed=i, needs={"first": "first"}, seconds=seconds)
        for i in range(1, 7)
    ]
    last = Task(name="last", run=draw, params=params, seed=9, needs={one.name: one.name for one in middle})
    return [last, *middle, Task(name="first", run=draw, params=params, seed=0, needs={})]
