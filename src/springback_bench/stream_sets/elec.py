"""Electricity: is it dearer than on average over the last day? (Harries 1999, prices in New South Wales, 1996-98).

A record is half an hour: the time of day, and price and demand here and in the neighbouring state. The head was trained
on 8,000 records, half a year; validation and test streams are the records that follow. Prices and rules change with the
years. Answers come in long runs, so that it would be easy to repeat the last label, but no method here sees labels.
"""

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback_bench.stream_sets._tabular import MULTIFLOW, MULTIFLOW_FOLDER, split_of
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member
from springback_bench.stream_sets.record import StreamSplit

_MEMBER = f"{MULTIFLOW_FOLDER}/elec.csv"
_RECORDS, _COLUMNS = 45_312, 7
_LEARNED, _VALIDATION, _TEST = 8_000, 6_000, 10_000
_SPLITS = 3


def _make(split: int, home: Path, report: Report) -> StreamSplit:
    table = table_in(tar_member(stored(MULTIFLOW, fetch_sdist, home, report), _MEMBER))
    records, labels = table[:, :-1].astype(np.float32), table[:, -1].astype(np.int64)
    start = split * (_RECORDS - _LEARNED - _VALIDATION - _TEST) // (_SPLITS - 1)
    ends = start + np.cumsum([0, _LEARNED, _VALIDATION, _TEST])
    learned, validation, test = ([(records[begin:end], labels[begin:end])] for begin, end in pairwise(ends))
    return split_of("elec", split, learned=learned, validation=validation, test=test, n_classes=2, step=0.5)


def table_in(content: bytes) -> NDArray[Any]:
    """All records, the label (0: cheaper, 1: dearer) in the last column; refused unless they are all there."""
    try:
        table = np.loadtxt(io.StringIO(content.decode()), delimiter=",", skiprows=1)
        check.array("its records", table, shape=(_RECORDS, _COLUMNS), dtype=np.float64)
        check.require(bool(np.isin(table[:, -1], (0, 1)).all()), "its labels", "be 0 or 1", "another number")
    except ValueError as error:
        raise DataError(f"{_MEMBER} must hold the prices of electricity: {error}") from error
    return table


STREAM_SETS = (
    StreamSet(
        name="elec",
        title="Is electricity dearer than on average over the last day?",
        splits=_SPLITS,
        make=_make,
        source="Prices in New South Wales (Harries 1999; published without a licence, so they are fetched and never "
        "redistributed) in the source distribution of scikit-multiflow 0.4.1 (BSD-3-Clause); the head is trained here.",
        step="30 minutes",
    ),
)
