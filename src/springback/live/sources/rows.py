"""Rows from lines of text: what is common to tables and JSON."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from springback import check
from springback.live.frames import NOTHING, Frames

_SHOWN = 60


class RowParser(ABC):
    """Turns lines into frames."""

    @abstractmethod
    def parse(self, lines: Sequence[bytes]) -> Frames:
        """The rows of these lines; bad ones are left out and described. A layout that cannot fit is refused."""


def gathered(lines: Sequence[bytes], read: Callable[[bytes], Frames], first: int) -> Frames:
    """The rows of lines that are read one by one; `first` is the number of the first line."""
    good, bad = [], []
    for number, line in enumerate(lines, first):
        try:
            good.append(read(line))
        except ValueError as error:
            told = check.shown(line[:_SHOWN])
            bad.append(f"line {number}: {' '.join(str(error).split())}: {told}{' ...' if len(line) > _SHOWN else ''}")
    return joined(good, tuple(bad))


def joined(parts: Sequence[Frames], bad: tuple[str, ...] = ()) -> Frames:
    """Frames one after another, with a list of what is bad.

    Examples
    --------
    >>> joined([Frames(values=np.eye(2)), Frames(values=np.ones((1, 2)))]).values.shape
    (3, 2)
    """
    if not parts:
        return Frames(values=NOTHING.values, bad=bad)
    times = [one.seconds for one in parts if one.seconds is not None]
    stamps = [stamp for one in parts for stamp in one.stamps or ()]
    labels = [label for one in parts for label in one.labels or ()]
    return Frames(
        values=np.concatenate([one.values for one in parts]),
        seconds=np.concatenate(times) if times else None,
        stamps=stamps if times else None,
        labels=labels if parts[0].labels is not None else None,
        bad=bad,
    )
