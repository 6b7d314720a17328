"""Rows from lines of text: what is common to tables and JSON."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from springback import check
from springback.live.frames import Bad, Frames, no_frames

LONGEST_LINE = 2**24
"""Bytes; a longer line is bad, and is skipped without being kept."""

Line = bytes | None
"""A line without its end; None: it was too long."""

_SHOWN = 60


class RowParser(ABC):
    """Turns lines into frames."""

    is_settled: bool = False
    """Whether it knows which columns are which, so that further lines can be passed over unread."""

    @abstractmethod
    def parse(self, lines: Sequence[Line]) -> Frames:
        """The rows of these lines; bad ones are left out and described. A layout that cannot fit is refused."""

    @abstractmethod
    def pass_over(self, count: int) -> None:
        """Count lines that are not read."""

    def begin_again(self) -> None:  # noqa: B027
        """The next line is the first one of a new connection, which may name its columns again."""


def gathered(lines: Sequence[Line], read: Callable[[bytes], Frames], first: int) -> Frames:
    """The rows of lines that are read one by one; `first` is the number of the first line."""
    good: list[Frames] = []
    bad = []
    for number, line in enumerate(lines, first):
        if line is None:
            bad.append(Bad(len(good), f"line {number}: it must have at most {LONGEST_LINE:,} bytes; it has more"))
            continue
        try:
            good.append(read(line))
        except ValueError as error:
            text = line[:_SHOWN].decode(errors="replace")
            told = f"{check.shown(text)}{' ...' if len(line) > _SHOWN else ''}"
            bad.append(Bad(len(good), f"line {number}: {' '.join(str(error).split())}: {told}"))
    return joined(good, tuple(bad))


def joined(parts: Sequence[Frames], bad: tuple[Bad, ...] = ()) -> Frames:
    """Frames one after another; what is bad is that of all parts, unless it is given.

    Examples
    --------
    >>> joined([Frames(values=np.eye(2)), Frames(values=np.ones((1, 2)), bad=(Bad(1, "line 4"),))]).bad
    (Bad(before=3, why='line 4'),)
    """
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    bad = bad or tuple(
        Bad(end + one.before, one.why) for end, part in zip(ends, parts, strict=False) for one in part.bad
    )
    parts = [one for one in parts if len(one)]
    if not parts:
        return no_frames(*bad)
    times = [one.seconds for one in parts if one.seconds is not None]
    stamps = [stamp for one in parts for stamp in one.stamps or ()]
    labels = [label for one in parts for label in one.labels or ()]
    return Frames(
        values=np.concatenate([one.values for one in parts]),
        seconds=np.concatenate(times) if times else None,
        stamps=stamps if times else None,
        labels=labels if parts[0].labels is not None else None,
        keys=[key for one in parts for key in one.keys or ()] if parts[0].keys is not None else None,
        bad=bad,
    )
