"""Rows of a table, as lines with commas."""

import csv
from collections.abc import Sequence
from typing import Any

import msgspec

from springback.live.frames import NOTHING, Frames
from springback.live.sources.layout import Places, RowLayout
from springback.live.sources.rows import RowParser, gathered

_FAST = msgspec.json.Decoder(list[list[float]])


class CsvRows(RowParser):
    r"""Lines with commas; the first line may name the columns.

    The first line is taken for names if none of its entries is a number, or if they are 0, 1, 2, ..., which pandas
    writes if columns have no names.

    Examples
    --------
    >>> rows = CsvRows(RowLayout(width=2))
    >>> rows.parse([b"time,x,y", b"0.5,1,2", b"oops"]).bad
    ("line 3: it must have 3 columns; got 1: b'oops'",)
    """

    def __init__(self, layout: RowLayout) -> None:
        self._layout = layout
        self._places: Places | None = None
        self._count = 0
        self._line = 0

    def parse(self, lines: Sequence[bytes]) -> Frames:
        """The rows of these lines; bad ones are left out and described."""
        if not lines:
            return NOTHING
        first = self._line + 1
        self._line += len(lines)
        if self._places is None:
            names = _fields(lines[0])
            named = not any(map(_is_number, names)) or names == [str(number) for number in range(len(names))]
            self._count = len(names)
            self._places = self._layout.places(names if named else [str(number) for number in range(len(names))])
            if named:
                lines, first = lines[1:], first + 1
        return self._all(lines) or gathered(lines, self._one, first)

    def _all(self, lines: Sequence[bytes]) -> Frames | None:
        """All rows at once; None if they are not all plain numbers."""
        assert self._places is not None
        if not lines:
            return NOTHING
        try:
            rows = _FAST.decode(b"[[" + b"],[".join(lines) + b"]]")
            if len(rows) != len(lines) or any(len(row) != self._count for row in rows):
                return None
            return self._places.frames(rows)
        except ValueError:  # which msgspec's errors are, too
            return None

    def _one(self, line: bytes) -> Frames:
        assert self._places is not None
        fields: list[Any] = list(_fields(line))
        if len(fields) != self._count:
            raise ValueError(f"it must have {self._count} columns; got {len(fields)}")
        for place in (self._places.time, self._places.label):
            if place is not None and _is_number(fields[place]):
                fields[place] = float(fields[place])
        return self._places.frames([fields])


def _fields(line: bytes) -> list[str]:
    text = line.decode("utf-8-sig")
    try:
        return [one.strip() for one in next(csv.reader([text]), [])]
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
