"""What a waiting user sees: one progress bar, one spinner, on the error stream so that results can be piped."""

import math
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
def training_progress(total: int, what: str = "training") -> Iterator[Callable[[int, float], None]]:
    """A progress bar that also shows an accuracy; call the given function with (how much was done, accuracy or NaN).

    Work beyond `total` (labelling after training) starts the bar anew.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[accuracy]}"),
    )
    with Progress(*columns, console=_errors, transient=True) as bar:
        task = bar.add_task(what, total=total, accuracy="")

        def advance(done: int, accuracy: float) -> None:
            if bar.tasks[0].finished:
                bar.reset(task, total=total, description="labelling neurons", accuracy="")
            shown = {} if math.isnan(accuracy) else {"accuracy": f"accuracy lately {accuracy:.1f} %"}
            bar.update(task, advance=done, **shown)  # type: ignore[arg-type]

        yield advance


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], None]]:
    """A moving sign with a line of text; call the given function to change the line."""
    with _errors.status(what) as status:
        yield status.update
