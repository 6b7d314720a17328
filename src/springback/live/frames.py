"""What a source hands on: some frames in time order, and what could not be read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.check import FrameError  # noqa: F401 - part of what live gives
from springback.streaming.records import Followed

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


class Bad(NamedTuple):
    """Something that could not be used.

    Parameters
    ----------
    before : int
        How many frames of the same piece came before it.
    why : str
        One sentence.

    Examples
    --------
    >>> Bad(2, "line 3: it must have 4 columns; got 1").why
    'line 3: it must have 4 columns; got 1'
    """

    before: int
    why: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Frames:
    """Some frames in time order; those of several streams are in the time order of each.

    Parameters
    ----------
    values : NDArray[Any]
        The frames, (T, ...).
    seconds : NDArray[np.float64] | None
        Their time stamps as numbers, (T,); dates in seconds since 1970. None: the source has none.
    stamps : Sequence[Any] | None
        The time stamps as they were given, for the answers.
    labels : Sequence[Any] | None
        The labels, if the source has them.
    groups : Sequence[str] | None
        By what correct answers are also counted apart, such as how much of a frame is hidden; None: by nothing.
    keys : Sequence[str] | None
        To which of several streams each frame belongs; None: all frames are one stream.
    bad : tuple[Bad, ...]
        What could not be read among these frames, in order.
    numbers : NDArray[np.int64] | None
        Number of each frame in its source, (T,), counted from 0 with those that could not be read; None: not counted.

    Examples
    --------
    >>> len(Frames(values=np.eye(3)))
    3
    """

    values: NDArray[Any]
    seconds: NDArray[np.float64] | None = None
    stamps: Sequence[Any] | None = None
    labels: Sequence[Any] | None = None
    groups: Sequence[str] | None = None
    keys: Sequence[str] | None = None
    bad: tuple[Bad, ...] = field(default=())
    numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def numbered(self, first: int) -> "Frames":
        """The same frames with their numbers; `first` is the number of the first of them, or of what is bad before it.

        Examples
        --------
        >>> Frames(values=np.eye(3), bad=(Bad(1, "line 2: not a number"),)).numbered(10).numbers.tolist()
        [10, 12, 13]
        """
        places = np.arange(len(self))
        before = np.searchsorted([one.before for one in self.bad], places, side="right")
        return replace(self, numbers=first + places + before)

    def select(self, chosen: NDArray[Any] | slice, bad: tuple[Bad, ...] = ()) -> "Frames":
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
            keys=of(self.keys),
            groups=of(self.groups),
            bad=bad,
            numbers=None if self.numbers is None else self.numbers[chosen],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Answers:
    """The answers to some frames.

    Parameters
    ----------
    frames : Frames
        What was answered.
    followed : Followed
        Probabilities with and without memory, and how new each frame is.
    labels, frozen_labels : list[Any]
        The answers in words, with memory and of the frozen model; None for one that it does not say.
    first : int
        Number of the first of these frames, counted from 0 over the whole run.

    Examples
    --------
    >>> both = np.eye(2)
    >>> followed = Followed(both, both, np.zeros(2))
    >>> frames = Frames(values=both)
    >>> len(Answers(frames=frames, followed=followed, labels=["a", "b"], frozen_labels=["a", "b"], first=0))
    2
    """

    frames: Frames
    followed: Followed
    labels: list[Any]
    frozen_labels: list[Any]
    first: int

    def __len__(self) -> int:
        return len(self.labels)


def no_frames(*bad: Bad) -> Frames:
    """No frames, only what could not be one."""
    return Frames(values=np.zeros((0, 0)), bad=bad)


NOTHING = no_frames()
"""What a source gives if nothing has come in."""
