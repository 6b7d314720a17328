"""The numbers of a figure as a table, and the table as a CSV file.

The unit of a column ends its name (`time_ms`); shares and accuracies are fractions. A cell without a value is empty.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.atomic import atomic_file

Column = Sequence[Any] | NDArray[Any]
Table = Mapping[str, Column]
"""Columns of equal length by name."""


def tidy(axes: Mapping[str, Column], values: Mapping[str, Any]) -> Table:
    """One row for each combination of the places along the axes; the last axis changes fastest.

    Parameters
    ----------
    axes : Mapping[str, Column]
        The places along each axis of the values, by the name of their column.
    values : Mapping[str, Any]
        Arrays with these axes, or with a length of one along some of them, by the name of their column.

    Examples
    --------
    >>> table = tidy({"lag_ms": [0, 5], "neuron": [7, 8]}, {"spikes": np.array([[1, 2], [3, 4]]), "pull": 0.5})
    >>> {name: column.tolist() for name, column in table.items()}
    {'lag_ms': [0, 0, 5, 5], 'neuron': [7, 8, 7, 8], 'spikes': [1, 2, 3, 4], 'pull': [0.5, 0.5, 0.5, 0.5]}
    """
    shape = tuple(len(places) for places in axes.values())
    at = np.indices(shape).reshape(len(shape), -1)
    index = {name: np.asarray(places)[rows] for (name, places), rows in zip(axes.items(), at, strict=True)}
    return index | {name: np.broadcast_to(value, shape).ravel() for name, value in values.items()}


def pictures(name: str, shown: NDArray[Any], of: Mapping[str, Column] | None = None, **values: Any) -> Table:
    """A row for each pixel of pictures (..., height, width), from the top left corner; `of` names the axes before.

    Examples
    --------
    >>> table = pictures("brightness", np.array([[9, 8], [7, 6]], np.uint8))
    >>> {name: column.tolist() for name, column in table.items()}
    {'row': [0, 0, 1, 1], 'column': [0, 1, 0, 1], 'brightness': [9, 8, 7, 6]}
    """
    height, width = shown.shape[-2:]
    return tidy({**(of or {}), "row": range(height), "column": range(width)}, {**values, name: shown})


def stacked(panels: Mapping[str, Table]) -> Table:
    """Several tables below each other, with a first column that says which panel of the figure a row is of.

    Examples
    --------
    >>> stacked({"a": {"time_ms": [1.0]}, "b": {"spikes": [3, 4]}})
    {'panel': ['a', 'b', 'b'], 'time_ms': [1.0, None, None], 'spikes': [None, 3, 4]}
    """
    names = dict.fromkeys(name for table in panels.values() for name in table)
    lengths = {panel: n_rows(table) for panel, table in panels.items()}
    columns = {
        name: [value for panel, table in panels.items() for value in table.get(name, [None] * lengths[panel])]
        for name in names
    }
    return {"panel": [panel for panel, n in lengths.items() for _ in range(n)], **columns}


def n_rows(table: Table) -> int:
    """How many rows a table has; columns of different lengths are refused.

    Examples
    --------
    >>> n_rows({"time_ms": [1.0], "spikes": [3, 4]})
    Traceback (most recent call last):
    ValueError: the columns of a table must have equal lengths; got {'time_ms': 1, 'spikes': 2}
    """
    lengths = {name: len(column) for name, column in table.items()}
    check.require(len(set(lengths.values())) <= 1, "the columns of a table", "have equal lengths", lengths)
    return next(iter(lengths.values()), 0)


def csv_text(table: Table) -> str:
    r"""The table as CSV, with a header; a number has all the digits that tell it apart in its own precision.

    Examples
    --------
    >>> csv_text({"neuron": ["first"], "efficacy": [np.float32(0.1)], "std": [float("nan")]})
    'neuron,efficacy,std\nfirst,0.1,\n'
    """
    check.require(n_rows(table) > 0, "the table of a figure", "have at least one row", "none")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*([_cell(value) for value in column] for column in table.values()), strict=True))
    return text.getvalue()


def write_csv(table: Table, path: Path) -> None:
    """Write a table as a CSV file."""
    with atomic_file(path) as file:
        file.write(csv_text(table).encode())


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    return str(int(value)) if isinstance(value, bool | np.bool_) else str(value)
