"""What a source hands on: some frames in time order, and what could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["rows", "pictures", "sound"]


@dataclass(frozen=True, kw_only=True)
class Signal:
    """What kind of frames a source gives.

    Parameters
    ----------
    kind : Kind
        "rows": numbers (T, n); "pictures": uint8 (T, height, width, 3), red, green and blue; "sound": float32
        (T, samples) between -1 and 1, one window in each row.
    shape : tuple[int, ...] | None
        Of one frame; None: known with the first frame.
    rate_hz : float | None
        Samples per second of sound, pictures per second of a video; None: not known.

    Examples
    --------
    >>> Signal(kind="sound", shape=(16000,), rate_hz=16000.0).kind
    'sound'
    """

    kind: Kind
    shape: tuple[int, ...] | None = None
    rate_hz: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Frames:
    """Some frames in time order.

    Parameters
    ----------
    values : NDArray[Any]
        The frames, (T, ...).
    seconds : NDArray[np.float64] | None
        Their time stamps as numbers, (T,); dates in seconds since 1970. None: the source has none.
    stamps : Sequence[Any] | None
        The time stamps as they were given, for the answers.
    labels : Sequence[Any] | None
        The right answers, if the source has them.
    bad : tuple[str, ...]
        What could not be read, one sentence each, among these frames.

    Examples
    --------
    >>> len(Frames(values=np.eye(3)))
    3
    """

    values: NDArray[Any]
    seconds: NDArray[np.float64] | None = None
    stamps: Sequence[Any] | None = None
    labels: Sequence[Any] | None = None
    bad: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.values)

    def select(self, chosen: NDArray[Any] | slice, bad: tuple[str, ...] = ()) -> "Frames":
        """Some of the frames, by a mask, by numbers or by a slice, with another list of what is bad.

        Examples
        --------
        >>> Frames(values=np.eye(3), stamps=["a", "b", "c"]).select(np.array([True, False, True])).stamps
        ['a', 'c']
        """
        numbers = np.arange(len(self))[chosen]

        def of(given: Sequence[Any] | None) -> list[Any] | None:
            return None if given is None else [given[one] for one in numbers]

        return Frames(
            values=self.values[chosen],
            seconds=None if self.seconds is None else self.seconds[chosen],
            stamps=of(self.stamps),
            labels=of(self.labels),
            bad=bad,
        )


NOTHING = Frames(values=np.zeros((0, 0)))
"""What a source gives if nothing has come in."""
