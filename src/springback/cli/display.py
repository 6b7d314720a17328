"""Progress bars, spinners and the display of a whole run; on the error stream, so that results can be piped."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

from springback.cli.errors import one_line
from springback.streaming.words import duration, percent

if TYPE_CHECKING:
    from springback_paper.runner.run import Event, OnEvent
    from springback_paper.runner.task import Task

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)

_COMPILING = "compiling (once)"


def say(text: str, *, indent: int = 0) -> None:
    """Print a result unchanged: markup is not interpreted, and lines are not wrapped."""
    console.print(" " * indent + one_line(text), markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a message that is not a result."""
    _errors.print(one_line(text), markup=False, soft_wrap=True)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar with count and time left; call the given function with the number of items just finished."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_errors, transient=True, disable=not _errors.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def training_progress(
    total: int, what: str = "training", *, elsewhere: bool = False
) -> Iterator[Callable[[int, float], None]]:
    """A progress bar that also shows an accuracy; call the given function with (number finished, accuracy or NaN).

    Work beyond `total` (labelling after training) restarts the bar. While code is being compiled, the bar says so. If
    the work is done by other processes (`elsewhere`), compiling cannot be observed, and the bar says so until the first
    item is finished.
    """
    from springback.compiled import watch_compiling

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[accuracy]}"),
    )
    with Progress(*columns, console=_errors, transient=True, disable=not _errors.is_terminal) as bar:
        doing, told = what, False
        task = bar.add_task(f"{doing}: {_COMPILING}" if elsewhere else doing, total=total, accuracy="")

        def compiling(begins: bool) -> None:
            nonlocal told
            bar.update(task, description=f"{doing}: {_COMPILING}" if begins else doing)
            if not told and not _errors.is_terminal:
                note(_COMPILING)
            told = True

        def advance(done: int, accuracy: float) -> None:
            nonlocal doing
            if bar.tasks[0].finished and done:
                doing = "labelling neurons"
                bar.reset(task, total=total, description=doing, accuracy="")
            elif elsewhere and done:
                bar.update(task, description=doing)
            shown = {} if math.isnan(accuracy) else {"accuracy": f"recent accuracy {percent(accuracy, 1)} %"}
            bar.update(task, advance=done, **shown)  # type: ignore[arg-type]

        with watch_compiling(compiling):
            yield advance


@contextmanager
def compiling_noted() -> Iterator[None]:
    """Say once that code is being compiled, which takes a while after an installation or an update."""
    from springback.compiled import watch_compiling

    told = False

    def compiling(begins: bool) -> None:
        nonlocal told
        if begins and not told:
            note(_COMPILING)
            told = True

    with watch_compiling(compiling):
        yield


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner with a line of text; call the given function to change the line."""
    with _errors.status(what) as status:
        yield status.update


@contextmanager
def run_display(tasks: "Sequence[Task]") -> "Iterator[OnEvent]":
    """One display for a whole run: finished tasks with their headlines, running tasks, and the time left.

    On a terminal the last lines are updated in place; elsewhere every task prints a plain line when it ends.
    """
    board = _Board(tasks)
    if not _errors.is_terminal:
        yield board.plain
        return
    with Live(board, console=_errors, refresh_per_second=4, transient=True) as live:

        def show(event: "Event") -> None:
            board.note(event)
            if event.what in ("finished", "failed", "skipped"):
                live.console.print(board.line(event), markup=False, soft_wrap=True)

        yield show


class _Board:
    """The state of a run; rich asks it for the lines that are updated."""

    def __init__(self, tasks: "Sequence[Task]") -> None:
        self.tasks, self.slots = tasks, 1
        self.measured: dict[str, float] = {}
        self.begun: dict[str, float] = {}
        self.kept = 0

    def note(self, event: "Event") -> None:
        if event.task is None:
            return
        name = event.task.name
        if event.what == "started":
            self.begun[name], self.slots = time.monotonic(), event.slots
            return
        self.begun.pop(name, None)
        self.measured[name] = event.seconds if event.what == "finished" else 0.0
        self.kept += event.what == "kept"

    def line(self, event: "Event") -> str:
        """One finished or failed task."""
        name = event.task.name if event.task else ""
        count = f"[{len(self.measured)}/{len(self.tasks)}]"
        if event.what == "finished":
            headline = getattr(event.result, "headline", "")
            return f"{count} {name}: {duration(event.seconds)}{', ' + headline if headline else ''}"
        return f"{count} {name}: {event.what}, {event.reason}"

    def left(self) -> float:
        """Estimated seconds to the end."""
        from springback_paper.runner.task import seconds_left

        now = time.monotonic()
        running = {name: now - start for name, start in self.begun.items()}
        return seconds_left(self.tasks, self.measured, running, self.slots)

    def plain(self, event: "Event") -> None:
        """What is printed if there is no terminal."""
        first = not self.begun and len(self.measured) == self.kept
        self.note(event)
        if event.what == "started" and first:
            kept = f", {self.kept} already done" if self.kept else ""
            _errors.print(f"{len(self.tasks)} tasks{kept}, about {duration(self.left())}", markup=False)
        if event.what in ("finished", "failed", "skipped"):
            rest = f" ({duration(self.left())} left)" if self.left() >= 1 else ""
            _errors.print(f"{self.line(event)}{rest}", markup=False, soft_wrap=True)

    def __rich__(self) -> Group:
        bar = ProgressBar(total=len(self.tasks), completed=len(self.measured), width=40)
        kept = f", {self.kept} already done" if self.kept else ""
        state = Text(f"{len(self.measured)} of {len(self.tasks)} tasks{kept}; about {duration(self.left())} left")
        now = time.monotonic()
        running = [Text(f"  {name}  {duration(now - start)}", style="dim") for name, start in self.begun.items()]
        return Group(bar, state, *running)
