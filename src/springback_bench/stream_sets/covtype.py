"""Covertype: which trees cover a patch of forest? (Blackard & Dean 1999, 30 by 30 m in four areas of Colorado).

A record has the height, slope and light of a patch, its distances to water, roads and fires, and its kind of soil. Its
publishers put 11,340 records first, the same number of each class, to learn from, and 3,780 next; the others follow in
the order of the survey, so that neighbours are alike and the landscape changes. The head was trained on the first ones.
Validation and test streams begin at different places of the survey.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets._tabular import MULTIFLOW, MULTIFLOW_FOLDER, split_of
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member
from springback_bench.stream_sets.record import StreamSplit

_MEMBER = f"{MULTIFLOW_FOLDER}/covtype.csv"
_LEARNED, _SURVEY, _RECORDS, _COLUMNS = 11_340, 15_120, 581_012, 55
_VALIDATION, _TEST = 6_000, 10_000
_SPLITS, _CLASSES = 3, 7


def _make(split: int, home: Path, report: Report) -> StreamSplit:
    def read() -> dict[str, NDArray[Any]]:
        content = tar_member(stored(MULTIFLOW, fetch_sdist, home, report), _MEMBER)
        report("reading the survey of forests")
        lines = content.decode().splitlines()
        return {name: records_in(lines, *place) for name, place in places().items()}

    parts = {name: (one[:, :-1], one[:, -1].astype(np.int64) - 1) for name, one in kept(home, "covtype", read).items()}
    return split_of(
        "covtype",
        split,
        learned=[parts["learned"]],
        validation=[parts[f"validation-{split}"]],
        test=[parts[f"test-{split}"]],
        n_classes=_CLASSES,
    )


def places() -> dict[str, tuple[int, int]]:
    """The first record of each part, and how many records it has; streams begin at equal distances in the survey."""
    found = {"learned": (0, _LEARNED)}
    distance = (_RECORDS - _SURVEY) // (2 * _SPLITS)
    for split in range(_SPLITS):
        found[f"validation-{split}"] = (_SURVEY + 2 * split * distance, _VALIDATION)
        found[f"test-{split}"] = (_SURVEY + (2 * split + 1) * distance, _TEST)
    return found


def records_in(lines: list[str], start: int, count: int) -> NDArray[np.float32]:
    """Records from a place on, the label (1 ... 7) in the last column; the first of the lines has the names."""
    try:
        rows = lines[1 + start : 1 + start + count]
        check.require(len(rows) == count, "its lines", f"be at least {1 + start + count}", len(lines))
        records = np.loadtxt(rows, delimiter=",", dtype=np.float32)
        check.array("its records", records, shape=(count, _COLUMNS), dtype=np.float32)
        known = bool(np.isin(records[:, -1], range(1, _CLASSES + 1)).all())
        check.require(known, "its labels", f"be 1 ... {_CLASSES}", "another number")
    except ValueError as error:
        raise DataError(f"{_MEMBER} must hold the survey of forests: {error}") from error
    return records


STREAM_SETS = (
    StreamSet(
        name="covtype",
        title="Which of seven kinds of trees covers a patch of forest, patch after patch?",
        splits=_SPLITS,
        make=_make,
        source="Covertype (UCI, CC BY 4.0) in the source distribution of scikit-multiflow 0.4.1 (BSD-3-Clause); the "
        "head is trained here.",
        step="another patch of 30 by 30 m",
    ),
)
