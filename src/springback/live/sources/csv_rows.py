"""Rows of a table, as lines with commas."""

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec

from springback.check import DataError
from springback.files.regular import open_regular
from springback.live.frames import NOTHING, Frames
from springback.live.sources.layout import Places, RowLayout, is_number, listed
from springback.live.sources.rows import LONGEST_LINE, Line, RowParser, gathered, joined

_LARGEST = 2**46
_FAST = msgspec.json.Decoder(list[list[float]])


class CsvRows(RowParser):
    r"""Lines with commas; the first line may name the columns.

    `RowLayout.is_header` says whether it does. Labels are text exactly as it stands. The first line of a new connection
    may name the columns again, in another order: they are then found by their names.

    Examples
    --------
    >>> rows = CsvRows(RowLayout(width=2))
    >>> rows.parse([b"time,x,y", b"0.5,1,2", b"oops"]).bad[0].why
    "line 3: it must have 3 columns; got 1: 'oops'"
    """

    def __init__(self, layout: RowLayout) -> None:
        self._layout = layout
        self._places = Places((), None, None)
        self._names: tuple[str, ...] | None = None
        self._count = 0
        self._line = 0
        self._begins = False

    def begin_again(self) -> None:
        """The next line may name the columns again."""
        self._begins = self.is_settled

    def pass_over(self, count: int) -> None:
        """Count lines that are not read."""
        self._line += count

    def parse(self, lines: Sequence[Line]) -> Frames:
        """The rows of these lines; bad ones are left out and described."""
        if self._begins or not self.is_settled:
            return self._first_rows(lines)
        if not lines:
            return NOTHING
        first, texts = self._line + 1, cast(Sequence[bytes], lines)
        words = sorted((one for one in (self._places.label, self._places.key) if one is not None), reverse=True)
        self._line += len(lines)
        # All rows at once, if they are plain numbers beside labels and keys; else one by one.
        if None not in lines:
            try:
                said: list[list[str]] = []
                if words:
                    cells = [line.split(b",") for line in texts]
                    if any(len(row) != self._count for row in cells) or any(b'"' in line for line in texts):
                        return gathered(lines, self._one, first)
                    said = [[row.pop(place).decode().strip() for place in words] for row in cells]
                    texts = [b",".join(row) for row in cells]
                rows: list[list[Any]] = _FAST.decode(b"[[" + b"],[".join(texts) + b"]]")
                if len(rows) == len(lines) and all(len(row) == self._count - len(words) for row in rows):
                    for row, texts_of_row in zip(rows, said, strict=bool(words)):
                        for place, text in zip(reversed(words), reversed(texts_of_row), strict=True):
                            row.insert(place, text)
                    return self._places.frames(rows)
            except ValueError:  # which msgspec's errors are, too
                pass
        return gathered(lines, self._one, first)

    def _first_rows(self, lines: Sequence[Line]) -> Frames:
        """Rows of which the first may be the names of the columns."""
        place = next((place for place, line in enumerate(lines) if line is not None), None)
        too_long = lines if place is None else lines[:place]
        before = gathered(too_long, self._one, self._line + 1)
        self._line += len(too_long)
        if place is None:
            return before
        line = lines[place] or b""
        named = self._take_names(line) if self._begins else self._settle(line)
        self._line += named
        return joined([before, self.parse(lines[place + named :])])

    def _settle(self, line: bytes) -> bool:
        """Find the columns by the first line; returns whether it holds their names and no row."""
        try:
            names = _fields(line)
        except ValueError as error:
            raise DataError(f"the first line is not a line of a table: {error}") from None
        named = self._layout.is_header(names)
        self._places = self._layout.places(names if named else [str(number) for number in range(len(names))])
        self._names = tuple(names) if named else None
        self._count, self.is_settled = len(names), True
        return named

    def _take_names(self, line: bytes) -> bool:
        """Find the columns again if a new connection names them; refused unless it names all that were used."""
        self._begins = False
        try:
            names = _fields(line)
        except ValueError:
            return False
        if tuple(names) == self._names:
            return True
        numbered = names == [str(number) for number in range(len(names))]
        if numbered or not self._layout.is_header(names):
            return False
        if len(names) < self._count and set(names).isdisjoint(self._names or ()):
            return False
        if self._names is None:
            raise DataError(
                f"the new connection names its columns ({listed(names)}), and the one before did not, so their order "
                "cannot be checked: begin again"
            )
        others = (self._places.time, self._places.label, self._places.key)
        time, label, key = (None if one is None else self._names[one] for one in others)
        used = tuple(self._names[one] for one in self._places.features)
        missing = [one for one in (*used, time, label, key) if one is not None and one not in names]
        if missing:
            raise DataError(
                f"the new connection has other columns ({listed(names)}) than the one before: {missing[0]!r} is missing"
            )
        layout = replace(self._layout, columns=used, ignore=(), time=time or "", label=label, key=key)
        self._places, self._names, self._count = layout.places(names), tuple(names), len(names)
        return True

    def _one(self, line: bytes) -> Frames:
        fields: list[Any] = list(_fields(line))
        if len(fields) != self._count:
            raise ValueError(f"it must have {self._count} columns; got {len(fields)}")
        time = self._places.time
        if time is not None and is_number(fields[time]):
            fields[time] = float(fields[time])
        return self._places.frames([fields])


def columns_of(path: Path, layout: RowLayout) -> tuple[str, ...]:
    """The names of the columns of features in a table; one without names is refused."""
    with open_regular(path, largest=_LARGEST) as file:
        rows, line = CsvRows(layout), b"\n"
        while line and not line.strip():
            line = file.readline(LONGEST_LINE)
        if not line:
            raise DataError(f"{path} has no line that could name its columns")
        rows.parse([line.rstrip(b"\r\n")])
    if rows._names is None:
        raise DataError(f"{path} begins with a row of numbers, which names no classes: give their names")
    return tuple(rows._names[one] for one in rows._places.features)


def _fields(line: bytes) -> list[str]:
    text = line.decode("utf-8-sig")
    try:
        return [one.strip() for one in next(csv.reader([text]), [])]
    except csv.Error as error:
        raise ValueError(str(error)) from None
