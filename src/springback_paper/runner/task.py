"""A task: one independent unit of work of the reproduction, named by everything its result depends on."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from graphlib import CycleError, TopologicalSorter
from inspect import signature
from typing import Any, get_type_hints

import numpy as np

from springback import __version__, check
from springback.data.idx import FASHION_MNIST_FILES, MNIST_FILES
from springback.data.omnist import OMNIST_VERSION
from springback_paper.runner.source_digest import Code, code_of

FORMAT = 1
"""Counts changes to what tasks mean; a result of another format is computed again."""


class Made(ABC):
    """A parameter that the worker makes for itself, such as images: a frozen dataclass that says what to make."""

    @abstractmethod
    def make(self, seed: int, inputs: Mapping[str, Any]) -> Any:
        """What the task's function receives in its place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """One unit of work.

    Parameters
    ----------
    name : str
        Its name, e.g. "spiking_st_stdp-0".
    run : Callable[..., Any]
        What computes it: a pure function of a module, so that any worker can import it. It receives `params`, `seed`
        and the results that the task needs as keyword arguments, as far as it names them. Its return type, a flat
        record, is part of its signature.
    params : Mapping[str, Any]
        Plain values, frozen dataclasses and arrays; a `Made` one is made by the worker.
    needs : Mapping[str, str]
        The tasks whose results `run` receives: {name of the argument: name of the task}.
    seconds : float
        What it takes on one core, roughly; the longest are begun first.
    modules : tuple[str, ...]
        Further modules that `run` uses, such as a file that it finds by a name in `params`.
    """

    name: str
    run: Callable[..., Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    needs: Mapping[str, str]
    seconds: float = 1.0
    modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check.require(
            bool(self.name) and all(c.isalnum() or c in "_-." for c in self.name),
            "Task.name",
            "be of letters, digits, _, - and .",
            self.name,
        )
        check.integer("Task.seed", self.seed, low=0)
        check.real("Task.seconds", self.seconds, above=0)

    @property
    def result_type(self) -> type[Any]:
        """The record that `run` returns."""
        found = get_type_hints(self.run).get("return")
        if not (isinstance(found, type) and is_dataclass(found)):
            raise TypeError(f"{self.run.__qualname__} must say which record it returns; got {found!r}")
        return found

    @property
    def code(self) -> Code:
        """What it runs: the sources of its function and of its parameters, and the libraries they use."""
        records = {type(value).__module__ for value in self.params.values() if is_dataclass(value)}
        return code_of({self.run.__module__, *records, *self.modules})

    def compute(self, inputs: Mapping[str, Any]) -> Any:
        """The result, given those of the tasks that it needs."""
        made = {key: one.make(self.seed, inputs) if isinstance(one, Made) else one for key, one in self.params.items()}
        named = signature(self.run).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in named.values())
        optional = {name: one for name, one in {**inputs, "seed": self.seed}.items() if takes_all or name in named}
        return self.run(**made, **optional)


def in_order(tasks: Iterable[Task]) -> list[Task]:
    """The tasks so that each comes after what it needs; a name twice, a need that is missing or a circle is refused.

    Examples
    --------
    >>> def nothing(): ...
    >>> late = Task(name="late", run=nothing, needs={"first": "early"})
    >>> [task.name for task in in_order([late, Task(name="early", run=nothing, needs={})])]
    ['early', 'late']
    """
    known: dict[str, Task] = {}
    for task in tasks:
        check.require(task.name not in known, "the name of a task", "be its own", task.name)
        known[task.name] = task
    for task in known.values():
        missing = sorted(set(task.needs.values()) - known.keys())
        check.require(not missing, "what a task needs", "be a task", missing)
    try:
        order = TopologicalSorter({name: task.needs.values() for name, task in known.items()}).static_order()
        return [known[name] for name in order]
    except CycleError as error:
        raise ValueError(f"tasks must not wait for each other; got {error.args[1]}") from error


def digests(tasks: Sequence[Task]) -> dict[str, str]:
    """The digest of each task: over its name, code, parameters, seed, the data, the version, and what it needs."""
    found: dict[str, str] = {}
    for task in in_order(tasks):
        about = {
            "format": FORMAT,
            "version": __version__,
            "code": task.code.digest,
            "data": _data_digest(),
            "name": task.name,
            "run": f"{task.run.__module__}.{task.run.__qualname__}",
            "params": described(task.params),
            "seed": task.seed,
            "needs": {name: found[need] for name, need in sorted(task.needs.items())},
        }
        found[task.name] = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]
    return found


def code_digests(tasks: Sequence[Task]) -> dict[str, str]:
    """The digest of the code of each task and of what it needs; parameters, seeds and data do not count.

    Examples
    --------
    >>> def nothing(): ...
    >>> two = [Task(name="a", run=nothing, needs={}), Task(name="b", run=nothing, needs={}, seed=1)]
    >>> len(set(code_digests(two).values()))
    1
    """
    found: dict[str, str] = {}
    for task in in_order(tasks):
        parts = [task.code.digest, *(found[need] for _, need in sorted(task.needs.items()))]
        found[task.name] = hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
    return found


def with_needs(wanted: Iterable[str], tasks: Sequence[Task]) -> list[Task]:
    """The wanted tasks and everything they need, in order."""
    known = {task.name: task for task in tasks}
    chosen: set[str] = set()
    stack = list(wanted)
    while stack:
        name = stack.pop()
        if name not in chosen:
            chosen.add(name)
            stack.extend(known[name].needs.values())
    return [task for task in in_order(tasks) if task.name in chosen]


def described(value: Any) -> Any:
    """A value as JSON that differs whenever the value does: records by class and field, arrays by their bytes.

    Examples
    --------
    >>> described((1, 2.5, {"a": None}))
    [1, 2.5, {'a': None}]
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "record": type(value).__name__,
            **{one.name: described(getattr(value, one.name)) for one in fields(value)},
        }
    if isinstance(value, np.ndarray):
        content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": content, "dtype": value.dtype.name, "shape": list(value.shape)}
    if isinstance(value, tuple | list):
        return [described(one) for one in value]
    if isinstance(value, dict):
        return {str(key): described(one) for key, one in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"a parameter must be plain, a record or an array; got {type(value).__name__}")


def seconds_left(
    tasks: Sequence[Task], measured: Mapping[str, float], running: Mapping[str, float], slots: int
) -> float:
    """Roughly how long the rest takes: nominal seconds, scaled by what the finished ones took.

    Parameters
    ----------
    measured : Mapping[str, float]
        Seconds of the tasks that are finished (or seconds 0 of those that need not run), by name.
    running : Mapping[str, float]
        Seconds since the start of those that run now.

    Examples
    --------
    >>> def nothing(): ...
    >>> two = [Task(name=name, run=nothing, needs={}, seconds=10.0) for name in "ab"]
    >>> seconds_left(two, {"a": 20.0}, {}, slots=1)
    20.0
    """
    ran = [task for task in tasks if measured.get(task.name)]
    nominal = sum(task.seconds for task in ran)
    scale = sum(measured[task.name] for task in ran) / nominal if nominal else 1.0
    rest = {
        task.name: max(scale * task.seconds - running.get(task.name, 0.0), 0.0)
        for task in tasks
        if task.name not in measured
    }
    ends: dict[str, float] = {}
    for task in in_order(tasks):
        if task.name in rest:
            ends[task.name] = rest[task.name] + max((ends.get(need, 0.0) for need in task.needs.values()), default=0)
    return max([sum(rest.values()) / max(slots, 1), *ends.values()], default=0.0)


def _data_digest() -> str:
    sums = [file.sha256 for files in (MNIST_FILES, FASHION_MNIST_FILES) for pair in files.values() for file in pair]
    return hashlib.sha256(json.dumps([sums, OMNIST_VERSION]).encode()).hexdigest()[:16]
