"""Answers as lines: JSON or a table with commas."""

import csv
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from io import StringIO
from typing import IO, Any

import msgspec

from springback.live.frames import Answers

_DIGITS = 6


class Line(msgspec.Struct, rename={"label": "class"}):
    """One answer.

    Parameters
    ----------
    time : Any
        The time stamp as the source gave it, or the number of the frame.
    label : Any
        The answer; "class" in the output.
    probability : float
        Of this answer.
    frozen_class, frozen_probability : Any, float | None
        What the same model answers without memory, and its probability; None: it does not say.
    novelty : float | None
        How new the frame is; None: the model has no measure of it.
    key : Any
        To which of several streams the frame belongs; unset if there is only one.
    probabilities : Any
        Of every class, by its name; unset if nobody asked for them.
    """

    time: Any
    label: Any
    probability: float
    frozen_class: Any
    frozen_probability: float | None
    novelty: float | None
    key: Any = msgspec.UNSET
    probabilities: Any = msgspec.UNSET


COLUMNS = ("time", "class", "probability", "frozen_class", "frozen_probability", "novelty")
"""The names of the output, in order."""


class Writer(ABC):
    """Writes answers to a file, each piece as soon as it is there.

    Parameters
    ----------
    file : IO[bytes]
        Where the lines go.
    goes_on : bool
        Whether the lines of an earlier run are there already.
    keyed : bool
        Whether frames belong to several streams.
    classes : Sequence[Any]
        Names of the classes whose probabilities are written as well; none: only that of the answer.
    """

    def __init__(
        self, file: IO[bytes], *, goes_on: bool = False, keyed: bool = False, classes: Sequence[Any] = ()
    ) -> None:
        self._file, self._keyed, self._classes = file, keyed, tuple(map(str, classes))
        if not goes_on:
            self._begin()

    def write(self, given: Answers) -> None:
        """Write one line for each of some answers."""
        followed, stamps = given.followed, given.frames.stamps
        times = range(given.first, given.first + len(given)) if stamps is None else stamps
        parts = (followed.posterior.max(axis=1), followed.frozen.max(axis=1), followed.novelty)
        best, frozen, novelty = (
            [None if math.isnan(one) else one for one in part.round(_DIGITS).tolist()] for part in parts
        )
        unset = [msgspec.UNSET] * len(given)
        all_of_them: list[Any] = unset
        if self._classes:
            rows = followed.posterior.round(_DIGITS).tolist()
            all_of_them = [dict(zip(self._classes, row, strict=True)) for row in rows]
        columns = (
            times,
            given.labels,
            best,
            given.frozen_labels,
            frozen,
            novelty,
            given.frames.keys or unset,
            all_of_them,
        )
        self._file.write(self._text([Line(*values) for values in zip(*columns, strict=True)]))
        self._file.flush()

    def _begin(self) -> None:  # noqa: B027
        """Write what comes before the first answer."""

    @abstractmethod
    def _text(self, lines: list[Line]) -> bytes:
        """Lines as text."""


class JsonWriter(Writer):
    """One JSON object in each line."""

    _encoder = msgspec.json.Encoder()

    def _text(self, lines: list[Line]) -> bytes:
        return self._encoder.encode_lines(lines)


class CsvWriter(Writer):
    """A table with commas, and the names of the columns in its first line."""

    def _begin(self) -> None:
        keys = ("key",) if self._keyed else ()
        self._file.write(_row((*COLUMNS, *keys, *(f"probability of {one}" for one in self._classes))))
        self._file.flush()

    def _text(self, lines: list[Line]) -> bytes:
        return b"".join(_row("" if one is None else one for one in self._cells(line)) for line in lines)

    def _cells(self, line: Line) -> list[Any]:
        *cells, key, probabilities = msgspec.structs.astuple(line)
        return [*cells, *([key] if self._keyed else []), *(probabilities.values() if self._classes else [])]


def _row(values: Any) -> bytes:
    csv.writer(text := StringIO(), lineterminator="\n").writerow(values)
    return text.getvalue().encode()
