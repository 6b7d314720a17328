"""The display of a run on the terminal: what is done, what is running, and how long the rest takes."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from springback.cli.display import errors
from springback.streaming.wording import duration
from springback_paper.runner.run import Event, OnEvent
from springback_paper.runner.task import Task, seconds_left


@contextmanager
def run_display(tasks: Sequence[Task]) -> Iterator[OnEvent]:
    """One display for a whole run: finished tasks with their headlines, running tasks, and the time left.

    On a terminal the last lines are updated in place; elsewhere every task prints a plain line when it ends.
    """
    board = _Board(tasks)
    if not errors.is_terminal:
        yield board.plain
        return
    with Live(board, console=errors, refresh_per_second=4, transient=True) as live:

        def show(event: Event) -> None:
            board.note(event)
            if event.what in ("finished", "failed", "skipped"):
                live.console.print(board.line(event), markup=False, soft_wrap=True)

        yield show


class _Board:
    """The state of a run; rich asks it for the lines that are updated."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks, self.slots = tasks, 1
        self.measured: dict[str, float] = {}
        self.begun: dict[str, float] = {}
        self.kept = 0

    def note(self, event: Event) -> None:
        if event.task is None:
            return
        name = event.task.name
        if event.what == "started":
            self.begun[name], self.slots = time.monotonic(), event.slots
            return
        self.begun.pop(name, None)
        self.measured[name] = event.seconds if event.what == "finished" else 0.0
        self.kept += event.what == "kept"

    def line(self, event: Event) -> str:
        """One finished or failed task."""
        name = event.task.name if event.task else ""
        count = f"[{len(self.measured)}/{len(self.tasks)}]"
        if event.what == "finished":
            headline = getattr(event.result, "headline", "")
            return f"{count} {name}: {duration(event.seconds)}{', ' + headline if headline else ''}"
        return f"{count} {name}: {event.what}, {event.reason}"

    def left(self) -> float:
        """Estimated seconds to the end."""
        now = time.monotonic()
        running = {name: now - start for name, start in self.begun.items()}
        return seconds_left(self.tasks, self.measured, running, self.slots)

    def plain(self, event: Event) -> None:
        """What is printed if there is no terminal."""
        first = not self.begun and len(self.measured) == self.kept
        self.note(event)
        if event.what == "started" and first:
            kept = f", {self.kept} already done" if self.kept else ""
            errors.print(f"{len(self.tasks)} tasks{kept}, about {duration(self.left())}", markup=False)
        if event.what in ("finished", "failed", "skipped"):
            rest = f" ({duration(self.left())} left)" if self.left() >= 1 else ""
            errors.print(f"{self.line(event)}{rest}", markup=False, soft_wrap=True)

    def __rich__(self) -> Group:
        bar = ProgressBar(total=len(self.tasks), completed=len(self.measured), width=40)
        kept = f", {self.kept} already done" if self.kept else ""
        state = Text(f"{len(self.measured)} of {len(self.tasks)} tasks{kept}; about {duration(self.left())} left")
        now = time.monotonic()
        running = [Text(f"  {name}  {duration(now - start)}", style="dim") for name, start in self.begun.items()]
        return Group(bar, state, *running)
