"""HAPT: what does a person do, seen from a phone at the waist? Walking, sitting, lying down: twelve activities.

The network sees 1.28 s of acceleration and turning, every 0.32 s, and was trained on 16 people. Streams are whole
sessions of others: 6 people to choose settings on, and 8 to test. A frame is scored by what is done in its last 0.32 s,
and not scored where nothing was noted.

In `hapt-turning` the phone turns slowly around an axis that is drawn once for each session, by up to one radian and
back, 1.5 radians a minute.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback_bench.stream_sets import hapt
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.hapt import N_ACTIVITIES, N_PEOPLE, ActivitySession
from springback_bench.stream_sets.record import NOT_SCORED, Stream, StreamSplit

_WINDOW, _HOP = 64, 16
_HERTZ = 50
_TRAINING, _VALIDATION = 16, 6
_RADIANS_PER_MINUTE, _MOST_RADIANS = 1.5, 1.0


def _make(split: int, home: Path, report: Report, *, turning: bool) -> StreamSplit:
    from springback_bench.stream_sets._small_network import activity_network

    sessions = hapt.recordings(home, report)
    people = np.random.default_rng(split).permutation(np.arange(1, N_PEOPLE + 1))
    parts = np.split(people, [_TRAINING, _TRAINING + _VALIDATION])
    learned, validation, test = ([one for one in sessions if one.person in part] for part in parts)
    windows = np.concatenate([windows_of(one.signals)[::2] for one in learned])
    labels = np.concatenate([labels_of(one.activities)[::2] for one in learned])
    windows, labels = windows[labels != NOT_SCORED], labels[labels != NOT_SCORED]
    report("training a network on 16 people")
    network = activity_network(windows, N_ACTIVITIES, seed=split)
    network.train(windows, labels, epochs=3, batch=256, learning_rate=2e-3, seed=split)

    def streams(some: Sequence[ActivitySession], number: int) -> tuple[Stream, ...]:
        rng = np.random.default_rng([split, number])
        moved = [one._replace(signals=turned(one.signals, rng)) if turning else one for one in some]
        return tuple(stream_of(network.features(windows_of(one.signals)), one.activities) for one in moved)

    return StreamSplit(
        name="hapt-turning" if turning else "hapt",
        split=split,
        head=network.head(windows),
        validation=streams(validation, 0),
        test=streams(test, 1),
    )


def windows_of(signals: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the network sees, (frames, channels, 64 samples)."""
    return np.ascontiguousarray(sliding_window_view(signals, _WINDOW, axis=0)[::_HOP])


def labels_of(activities: NDArray[np.int64]) -> NDArray[np.int64]:
    """The activity in most of the newest samples of each frame, 0 ... 11, or -1; of equal shares, the lowest."""
    newest = sliding_window_view(activities, _WINDOW)[::_HOP, -_HOP:]
    counts = (newest[:, :, None] == np.arange(N_ACTIVITIES + 1)).sum(axis=1)
    return np.asarray(counts.argmax(axis=1) - 1, np.int64)


def stream_of(features: NDArray[np.float32], activities: NDArray[np.int64]) -> Stream:
    """One session; whenever the activity changes, a new object begins."""
    labels = labels_of(activities)
    return Stream(
        features=features,
        labels=labels,
        times=np.arange(len(labels)) * _HOP / _HERTZ,
        objects=np.cumsum(np.diff(labels, prepend=labels[:1]) != 0),
    )


def turned(signals: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """The signals of a phone that turns slowly to and fro around a random axis (Rodrigues' formula)."""
    axis = rng.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    travelled = _RADIANS_PER_MINUTE * np.arange(len(signals)) / (60 * _HERTZ)
    angle = _MOST_RADIANS - np.abs(travelled % (2 * _MOST_RADIANS) - _MOST_RADIANS)
    turn = np.eye(3) + np.sin(angle)[:, None, None] * cross + (1 - np.cos(angle))[:, None, None] * (cross @ cross)
    parts: list[NDArray[Any]] = [np.einsum("tij,tj->ti", turn, part) for part in (signals[:, :3], signals[:, 3:])]
    return np.concatenate(parts, axis=1).astype(np.float32)


STREAM_SETS = tuple(
    StreamSet(
        name=name,
        title=title,
        splits=3,
        make=partial(_make, turning=turning),
        needs=("torch",),
        source=hapt.SOURCE,
        step="0.32 s",
    )
    for name, title, turning in (
        ("hapt", "What does a person do, seen from a phone at the waist?", False),
        ("hapt-turning", "What does a person do, seen from a phone that slowly turns?", True),
    )
)
