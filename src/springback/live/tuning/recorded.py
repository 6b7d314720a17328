"""A recorded stream as a whole, with its labels as numbers of classes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.live.clock import Clock
from springback.live.follower import Follower
from springback.live.labels import KnownLabels
from springback.live.sources.source import Source

UNKNOWN = -1
_MOST_BYTES = 2**32


class Recorded(NamedTuple):
    """A stream: what the model takes, (T, n), and the correct classes, (T,), -1 where unknown; None: no labels.

    `times` are in steps of the model's memory, (T,); None: frames are one step apart. `keys` say to which of several
    streams each frame belongs; None: all are one stream.
    """

    rows: NDArray[np.float64]
    labels: NDArray[np.int64] | None
    times: NDArray[np.float64] | None = None
    keys: tuple[str, ...] | None = None


def read_all(
    source: Source,
    follower: Follower,
    name: str,
    *,
    step_s: float | None = None,
) -> tuple[Recorded, tuple[str, ...]]:
    """A source to its end, and what in it could not be used; a stream that does not fit in memory is refused.

    `step_s` is the length of a step in the unit of its time stamps, which are used if it is given, or if the memory of
    the model is in their unit.
    """
    follower.preparation.refuse(source.signal, name)
    parts: list[NDArray[Any]] = []
    labels: list[Any] = []
    keys: list[str] = []
    bad: list[str] = []
    size, labelled = 0, False
    unit, stamps = follower.unit_of_time(step_s), [np.empty(0)]
    clock = Clock(unit)
    while (found := source.read()) is not None:
        found = clock.in_order(found)
        bad += [one.why for one in found.bad]
        if not len(found):
            continue
        parts.append(np.asarray(follower.preparation.prepare(found.values), np.float64))
        size += parts[-1].nbytes
        if size > _MOST_BYTES:
            raise DataError(f"{name} is longer than {_MOST_BYTES:,} bytes; choose settings on a shorter part of it")
        if (steps := clock.steps(found)) is not None:
            stamps.append(steps)
        keys += found.keys or ()
        labelled = labelled or found.labels is not None
        labels += [None] * len(found) if found.labels is None else list(found.labels)
    if not parts:
        raise DataError(f"{name} has no frames that can be used{': ' + bad[0] if bad else ''}")
    numbers = _numbers(labels, follower.classes, name) if labelled else None
    times = None if unit is None else np.concatenate(stamps)
    return Recorded(np.concatenate(parts), numbers, times, tuple(keys) or None), tuple(bad)


def _numbers(labels: Sequence[Any], classes: tuple[Any, ...], name: str) -> NDArray[np.int64]:
    known = KnownLabels(classes)
    places = [None if known.is_missing(label) else known.place(label) for label in labels]
    found = np.array([UNKNOWN if place is None else place for place in places], np.int64)
    if (found == UNKNOWN).all():
        shown = ", ".join(map(str, classes[:8])) + (", ..." if len(classes) > 8 else "")
        raise DataError(f"no label of {name} is one of the classes of the model, {shown}; got {labels[0]!r}")
    return found
