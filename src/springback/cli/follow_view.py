"""The live view of `springback follow`: both answers, how they went, and how new the frame is."""

import math
import time
from collections import deque
from typing import IO, Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from springback.cli.errors import one_line
from springback.live.follower import Follower
from springback.live.following import Tally
from springback.live.frames import Answers

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")
_REMEMBERED = 2000
_PER_SECOND = 8
_BAR, _NAME = 24, 24


def is_terminal(file: IO[Any] | None) -> bool:
    """Whether a person sees what is written there."""
    return file is not None and not file.closed and file.isatty()


class AnswerView:
    """A display that is updated a few times per second, whatever the rate of the frames.

    Parameters
    ----------
    follower : Follower
        The model.
    source : str
        Shown in the first line.
    tally : Tally
        Counts of the run.
    """

    def __init__(self, follower: Follower, source: str, tally: Tally, console: Console | None = None) -> None:
        self._colours = {str(name): _COLOURS[k % len(_COLOURS)] for k, name in enumerate(follower.classes)}
        self._source, self._tally = source, tally
        self._past: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._last: tuple[tuple[str, float], tuple[str, float], float, Any] | None = None
        self._begun = time.monotonic()
        self._console = console or Console(stderr=True, highlight=False)
        self._live = Live(self, console=self._console, refresh_per_second=_PER_SECOND)

    def show(self, given: Answers | None) -> None:
        """Take note of answers; the display follows by itself."""
        if given is None or not len(given):
            return
        now, rest = (one.max(axis=1) for one in (given.followed.posterior, given.followed.frozen))
        pairs = zip(map(str, given.labels), map(str, given.frozen_labels), strict=True)
        self._past.extend(pairs)
        adaptive, frozen = self._past[-1]
        stamps = given.frames.stamps
        at = given.first + len(given) - 1 if stamps is None else stamps[-1]
        self._last = ((adaptive, float(now[-1])), (frozen, float(rest[-1])), float(given.followed.novelty[-1]), at)

    def __enter__(self) -> "AnswerView":
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)
        if not self._console.is_terminal:
            self._console.print()

    def __rich__(self) -> Group:
        seconds = max(time.monotonic() - self._begun, 1e-9)
        tally = self._tally
        bad = f", {tally.bad:,} bad" if tally.bad else ""
        head = Text(f"{one_line(self._source)}: {tally.frames:,} frames, {tally.frames / seconds:,.0f} per second{bad}")
        if self._last is None:
            return Group(head, Text("waiting for the first frame", style="dim"))
        adaptive, frozen, novelty, at = self._last
        table = Table.grid(padding=(0, 2))
        table.add_row("", Text("now", style="dim"), "", Text("before", style="dim"))
        wide = max(8, self._console.width - _BAR - _NAME - 34)
        both = (("with memory", adaptive, 0), ("frozen", frozen, 1))
        for name, (label, probability), column in both[: 1 + (not math.isnan(frozen[1]))]:
            bar = ProgressBar(total=1.0, completed=probability, width=_BAR, complete_style=self._colour(label))
            shown = Text(one_line(label)[:_NAME].ljust(_NAME), style=f"bold {self._colour(label)}")
            table.add_row(name, shown, Group(bar), self._strip(column, wide))
        new = "" if math.isnan(novelty) else f"   novelty {novelty:.3f}"
        return Group(head, table, Text(f"time {one_line(str(at))}{new}   Ctrl-C ends", style="dim"))

    def _strip(self, column: int, wide: int) -> Text:
        """The last answers, one block for each frame, in the colours of their classes."""
        strip = Text(no_wrap=True)
        for pair in list(self._past)[-wide:]:
            strip.append("█", style=self._colour(pair[column]))
        return strip

    def _colour(self, label: str) -> str:
        return self._colours.get(label, "white")
