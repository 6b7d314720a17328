"""What a waiting user sees: one progress bar, one spinner, on the error stream so that results can be piped."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

console = Console(highlight=False)
_errors = Console(stderr=True, highlight=False)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar with count and time left; call the given function with how much was just done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_errors, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """A moving sign with a line of text; call the given function to change the line."""
    with _errors.status(what) as status:
        yield status.update
