"""Rows as JSON, one value in each line."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from springback import check
from springback.live.frames import NOTHING, Frames
from springback.live.sources.layout import Places, RowLayout
from springback.live.sources.rows import Line, RowParser, gathered

FEATURES = "features"
"""The key of a list of features."""

_LISTS = msgspec.json.Decoder(list[list[float]])
_ANYTHING = msgspec.json.Decoder()


class JsonRows(RowParser):
    """One JSON value in each line: a list of features, an object with such a list, or an object with a number for each.

    An object `{"time": ..., "features": [...]}` may also have the label and other keys, which are ignored. In an object
    without "features", every key counts as a feature, unless the layout says otherwise. All lines have the form of the
    first good one.

    Examples
    --------
    >>> rows = JsonRows(RowLayout(width=2))
    >>> rows.parse([b'{"time": 3, "features": [1, 2]}', b"[1"]).bad[0].why
    "line 2: Input data was truncated: '[1'"
    """

    def __init__(self, layout: RowLayout) -> None:
        self._layout = layout
        self._first: _Line | None = None
        self._places = Places((), None, None)
        self._line = 0
        self._shape: tuple[int, ...] | None = None

    def pass_over(self, count: int) -> None:
        """Count lines that are not read."""
        self._line += count

    def parse(self, lines: Sequence[Line]) -> Frames:
        """The rows of these lines; bad ones are left out and described."""
        if not lines:
            return NOTHING
        first = self._line + 1
        self._line += len(lines)
        return self._all(lines) or gathered(lines, self._one, first)

    def _all(self, lines: Sequence[Line]) -> Frames | None:
        """All rows at once, if they are lists as the first one; else None."""
        if self._first is None or not self._first.form.startswith("a list") or None in lines:
            return None
        try:
            texts: Any = lines
            rows = _LISTS.decode(b"[" + b",".join(texts) + b"]")
            if len(rows) != len(lines) or any(len(row) != len(self._first.row) for row in rows):
                return None
            return self._places.frames(rows)
        except ValueError:  # which msgspec's errors are, too
            return None

    def _one(self, text: bytes) -> Frames:
        try:
            line = _line_of(_ANYTHING.decode(text))
        except RecursionError:
            raise ValueError("JSON is nested too deeply") from None
        if self._first is None:
            frames = self._alike((places := self._places_of(line)).frames([line.row]))
            self._first, self._places, self.is_settled, self._shape = line, places, True, frames.values.shape
            return frames
        if line.form != self._first.form:
            raise ValueError(f"it must be {self._first.form}, as the first good line; it is {line.form}")
        row = line.row if line.names == self._first.names else self._in_order(line)
        return self._alike(self._places.frames([row]))

    def _alike(self, frames: Frames) -> Frames:
        """The frame, if its features are numbers, or lists as those of the first good line."""
        shape = frames.values.shape
        if self._layout.width is not None and len(shape) > 2:
            raise ValueError("features must be numbers; got lists")
        if self._shape not in (None, shape):
            raise ValueError(f"features must have the shape {self._shape[1:]}, as the first good line; got {shape[1:]}")
        return frames

    def _places_of(self, line: "_Line") -> Places:
        listed = line.form != _OBJECT and self._layout.columns is None
        layout = replace(self._layout, columns=line.features) if listed and not line.plain else self._layout
        return layout.places(line.names)

    def _in_order(self, line: "_Line") -> list[Any]:
        """The row in the order of the first one, without keys that the first one did not have."""
        assert self._first is not None
        by_name = dict(zip(line.names, line.row, strict=True))
        missing = [name for name in self._first.names if name not in by_name]
        if missing:
            raise ValueError(f"it must have the key {check.shown(missing[0])}, as the first good line")
        return [by_name[name] for name in self._first.names]


_OBJECT = "an object with a number for each feature"


class _Line(NamedTuple):
    """Names and values of a line, its form, and the names of the features that came as a list."""

    names: tuple[str, ...]
    row: list[Any]
    form: str
    features: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        return self.names == self.features


def _line_of(value: Any) -> _Line:
    """The parts of a line; features in a list are called 0, 1, 2, ..."""
    if isinstance(value, list):
        names = _numbered(len(value))
        return _Line(names, value, f"a list of {len(value)}", names)
    if not isinstance(value, dict):
        raise ValueError(f"a line must be a list or an object; got {type(value).__name__}")
    features = value.get(FEATURES)
    if features is None:
        return _Line(tuple(value), list(value.values()), _OBJECT)
    if not isinstance(features, list):
        raise ValueError(f"{FEATURES!r} must be a list; got {type(features).__name__}")
    names = _numbered(len(features))
    others = {name: one for name, one in value.items() if isinstance(one, str | int | float)}
    form = f"an object with {FEATURES!r}, a list of {len(features)}"
    return _Line((*names, *others), [*features, *others.values()], form, names)


@lru_cache(8)
def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(count))
