"""Streams of records with few columns: the head is a linear layer, trained on standardised records of the past."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from springback.data.packages import Package
from springback_bench.stream_sets.heads import linear_head
from springback_bench.stream_sets.record import NOT_SCORED, Stream, StreamSplit

MULTIFLOW = Package(
    "scikit-multiflow==0.4.1", 15_532_019, "ed4f791107cb7f789f0bb0620c50e743a4d397905146a4d06c62eb98607aa101"
)
"""A package with tables that research on streams knows well."""

MULTIFLOW_FOLDER = "scikit-multiflow-0.4.1/src/skmultiflow/data/datasets"

Part = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Records (T, n) and their labels (T,), in the order of time."""


def split_of(
    name: str,
    number: int,
    *,
    learned: Sequence[Part],
    validation: Sequence[Part],
    test: Sequence[Part],
    n_classes: int,
    step: float = 1.0,
) -> StreamSplit:
    """A split whose head was trained on the scored records of `learned`; `step` is the time between two records.

    Examples
    --------
    >>> part = (np.array([[0.0], [2.0], [2.0]], np.float32), np.array([0, 1, 1]))
    >>> made = split_of("small", 0, learned=[part], validation=[part], test=[part], n_classes=2)
    >>> made.head.accuracy(made.test), made.test[0].objects.tolist()
    (1.0, [0, 1, 1])
    """
    records = np.concatenate([one for one, _ in learned])
    labels = np.concatenate([one for _, one in learned])
    records, labels = records[labels != NOT_SCORED], labels[labels != NOT_SCORED]
    mean, scale = records.mean(axis=0), records.std(axis=0)
    scale[scale == 0] = 1

    def streams(parts: Sequence[Part]) -> tuple[Stream, ...]:
        return tuple(
            Stream(
                features=((one - mean) / scale).astype(np.float32),
                labels=known,
                times=step * np.arange(len(known), dtype=np.float64),
                objects=np.cumsum(np.diff(known, prepend=known[:1]) != 0),
            )
            for one, known in parts
        )

    head = linear_head((records - mean) / scale, labels, n_classes, strength=1.0)
    return StreamSplit(name=name, split=number, head=head, validation=streams(validation), test=streams(test))
