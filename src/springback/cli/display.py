"""Progress bars, spinners and the display of a whole run; on the error stream, so that results can be piped."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from springback.cli.errors import one_line
from springback.streaming.wording import percent

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

_COMPILING = "compiling (once)"


def say(text: str, *, indent: int = 0) -> None:
    """Print a result unchanged: markup is not interpreted, and lines are not wrapped."""
    console.print(" " * indent + one_line(text), markup=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a message that is not a result."""
    errors.print(one_line(text), markup=False, soft_wrap=True)


def _bar(*more: TextColumn) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), *more)
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar with count and time left; call the given function with the number of items just finished."""
    with _bar() as bar:
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

    with _bar(TextColumn("{task.fields[accuracy]}")) as bar:
        doing, told = what, False
        task = bar.add_task(f"{doing}: {_COMPILING}" if elsewhere else doing, total=total, accuracy="")

        def compiling(begins: bool) -> None:
            nonlocal told
            bar.update(task, description=f"{doing}: {_COMPILING}" if begins else doing)
            if not told and not errors.is_terminal:
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
    with errors.status(what) as status:
        yield status.update
