"""Run tasks in the order of their needs, on any pool; each result is on disk as soon as it is there.

The parent process writes the results, so that workers need no disk in common with it.
"""

import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from springback.check import DataError
from springback_paper.runner.freed_memory import give_back_freed_memory
from springback_paper.runner.pools import Pool
from springback_paper.runner.result_file import load_result, notes_about, save_result
from springback_paper.runner.task import Task, digests, in_order

_LOOK_EVERY_S = 0.25


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a task.

    Parameters
    ----------
    what : str
        "kept" (it was on disk), "started", "finished", "failed", "skipped" (what it needs failed), or "waiting":
        nothing new, but time has passed.
    seconds : float
        What it took.
    reason : str
        Why it failed, in one line; `trace` in full.
    slots : int
        Of one that started: how many can run at the same time.
    """

    what: str
    task: Task | None = None
    seconds: float = 0.0
    result: Any = None
    reason: str = ""
    trace: str = ""
    slots: int = 0


OnEvent = Callable[[Event], None]


class Timing(NamedTuple):
    """How long a task took, and how much of that its process had a processor."""

    seconds: float
    processor_seconds: float


class TaskStore:
    """Results of tasks as files `NAME-DIGEST.safetensors`: a task with another digest is another file."""

    def __init__(self, folder: Path, tasks: Sequence[Task]) -> None:
        self.folder = folder
        self._tasks = {task.name: task for task in in_order(tasks)}
        self._digests = digests(tasks)

    def path(self, name: str) -> Path:
        """Where the result of a task is or will be."""
        return self.folder / f"{name}-{self._digests[name]}.safetensors"

    def has(self, name: str) -> bool:
        """Whether there is a result."""
        return self.path(name).is_file()

    def load(self, name: str) -> Any:
        """The result of a task."""
        return load_result(self.path(name), self._tasks[name].result_type)

    def timing(self, name: str) -> Timing:
        """How long it took to compute."""
        metadata = notes_about(self.path(name), self._tasks[name].result_type)
        return Timing(*(float(metadata.get(one, "nan")) for one in Timing._fields))

    def save(self, name: str, result: Any, timing: Timing) -> None:
        """Keep a result."""
        versions = json.dumps(self._tasks[name].code.versions)
        about = {"task": name, "digest": self._digests[name], "versions": versions}
        about |= {one: f"{value:.3f}" for one, value in timing._asdict().items()}
        save_result(result, self.path(name), about=about)

    def load_all(self) -> dict[str, Any]:
        """Every result that is there, by the name of its task; a damaged file counts as not there."""
        found = {}
        for name in self._tasks:
            if self.has(name):
                try:
                    found[name] = self.load(name)
                except DataError:
                    continue
        return found


def set_aside(folder: Path) -> Path | None:
    """Rename a folder of tasks so that a run starts afresh; returns its new name, or None if there was none."""
    if not folder.exists():
        return None
    number = 1
    while (away := folder.with_name(f"{folder.name}.previous-{number}")).exists():
        number += 1
    return folder.rename(away)


def run_tasks(
    wanted: Sequence[Task], folder: TaskStore, make_pool: Callable[[], Pool], on_event: OnEvent = lambda _: None
) -> dict[str, str]:
    """Run what is not on disk yet, and return why those that are missing failed, by name.

    One failing task stops only what needs it; one whose process was killed is begun once more. An interrupt ends the
    workers; what is finished stays.
    """
    ordered = in_order(wanted)
    kept = {task.name for task in ordered if folder.has(task.name) and _readable(folder, task.name)}
    for task in ordered:
        if task.name in kept:
            on_event(Event(what="kept", task=task, seconds=folder.timing(task.name).seconds))
    waiting = {task.name: task for task in ordered if task.name not in kept}
    if not waiting:
        return {}
    urgency = _urgencies(ordered)
    pool = make_pool()
    done: set[str] = set(kept)
    failed: dict[str, str] = {}
    running: dict[Future[Any], Task] = {}
    lost: set[str] = set()
    finished_normally = False
    try:
        while waiting or running:
            for task in [one for one in waiting.values() if any(need in failed for need in one.needs.values())]:
                cause = next(need for need in task.needs.values() if need in failed)
                failed[task.name] = f"needs {cause}, which failed"
                on_event(Event(what="skipped", task=waiting.pop(task.name), reason=failed[task.name]))
            ready = [one for one in waiting.values() if all(need in done for need in one.needs.values())]
            ready.sort(key=lambda task: -urgency[task.name])
            for task in ready[: max(0, pool.slots - len(running))]:
                inputs = {name: folder.load(need) for name, need in task.needs.items()}
                running[pool.submit(urgency[task.name], timed, task, inputs)] = waiting.pop(task.name)
                on_event(Event(what="started", task=task, slots=pool.slots))
            over, _ = wait(running, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            for future in over:
                task = running.pop(future)
                if isinstance(future.exception(), BrokenExecutor) and task.name not in lost:
                    lost.add(task.name)
                    waiting[task.name] = task
                    continue
                event = _settle(task, future, folder)
                failed |= {task.name: event.reason} if event.what == "failed" else {}
                done |= {task.name} if event.what == "finished" else set()
                on_event(event)
            if not over:
                on_event(Event(what="waiting"))
        finished_normally = True
    finally:
        pool.close(at_once=not finished_normally)
    return failed


def timed(task: Task, inputs: Mapping[str, Any]) -> tuple[Any, Timing]:
    """What a worker does: run a task, and say how long it took."""
    start, worked = time.perf_counter(), time.process_time()
    try:
        result = task.compute(inputs)
        return result, Timing(time.perf_counter() - start, time.process_time() - worked)
    finally:
        give_back_freed_memory()


def _settle(task: Task, future: "Future[Any]", folder: TaskStore) -> Event:
    try:
        result, timing = future.result()
        folder.save(task.name, result, timing)
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        last = str(error).strip().splitlines()[-1:] or [""]
        return Event(what="failed", task=task, reason=f"{type(error).__name__}: {last[0]}", trace=trace)
    return Event(what="finished", task=task, seconds=timing.seconds, result=result)


def _readable(folder: TaskStore, name: str) -> bool:
    try:
        folder.load(name)
    except DataError:
        return False
    return True


def _urgencies(ordered: Sequence[Task]) -> dict[str, float]:
    """Seconds from the beginning of each task to the end of the longest chain that waits for it."""
    after: dict[str, float] = {}
    for task in reversed(ordered):
        after[task.name] = task.seconds + after.get(task.name, 0.0)
        for need in task.needs.values():
            after[need] = max(after.get(need, 0.0), after[task.name])
    return after
