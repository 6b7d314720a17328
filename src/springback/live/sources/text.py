"""Rows from standard input or from a file: tables with commas, or JSON lines."""

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from springback.atomic import what_it_is
from springback.check import DataError
from springback.live.frames import NOTHING, Frames, Signal
from springback.live.sources.csv_rows import CsvRows
from springback.live.sources.json_rows import JsonRows
from springback.live.sources.layout import RowLayout
from springback.live.sources.lines import LONGEST_LINE, Lines, LineSplitter, waiting_bytes
from springback.live.sources.rows import RowParser
from springback.live.sources.source import Source, SourceKind, SourceOptions

STDIN = "-"


class TextRows:
    """Rows from pieces of text; the first line shows whether they are JSON or a table."""

    def __init__(self, layout: RowLayout) -> None:
        self._layout = layout
        self._parser: RowParser | None = None
        self._splitter = LineSplitter()

    def feed(self, piece: bytes) -> Frames:
        """The rows of the lines that this piece completes."""
        return self._parsed(self._splitter.feed(piece))

    def end(self) -> Frames:
        """The row of a last line without a line break."""
        return self._parsed(self._splitter.end())

    def cut(self) -> Frames:
        """No row: a last line without a line break may have lost its end, so it is bad."""
        pending = self._splitter.end()
        bad = ("the connection was lost in the middle of a line",) if pending.lines or pending.too_long else ()
        return NOTHING.select(slice(None), bad)

    def _parsed(self, found: Lines) -> Frames:
        if found.lines and self._parser is None:
            is_json = found.lines[0].lstrip(b"\xef\xbb\xbf \t")[:1] in (b"{", b"[")
            self._parser = (JsonRows if is_json else CsvRows)(self._layout)
        frames = NOTHING if self._parser is None else self._parser.parse(found.lines)
        if not found.too_long:
            return frames
        long = (f"a line must have at most {LONGEST_LINE:,} bytes; one has more",) * found.too_long
        return frames.select(slice(None), frames.bad + long)


class TextSource(Source):
    """Lines of a file descriptor.

    Parameters
    ----------
    handle : int
        What is read.
    layout : RowLayout
        Which numbers of a row are used.
    close : Callable[[], None]
        Called at the end.
    """

    def __init__(self, handle: int, layout: RowLayout, close: Callable[[], None]) -> None:
        self.signal = Signal(kind="rows")
        self._handle, self._close = handle, close
        self._rows = TextRows(layout)
        self._ended = False

    def read(self) -> Frames | None:
        """The rows that have come in."""
        if self._ended:
            return None
        piece = waiting_bytes(self._handle, partial(os.read, self._handle))
        if piece is None:
            return NOTHING
        if piece:
            return self._rows.feed(piece)
        self._ended = True
        return self._rows.end()

    def close(self) -> None:
        """Close the file."""
        self._close()


def open_text(address: str, options: SourceOptions) -> TextSource:
    """Standard input ("-") or a file, which may also be a named pipe."""
    if address == STDIN:
        try:
            return TextSource(sys.stdin.fileno(), options.layout, lambda: None)
        except (AttributeError, OSError, ValueError):
            raise DataError("standard input is closed; name a file instead of -") from None
    path = Path(address)
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode)):
            raise DataError(f"{path} is {what_it_is(found.st_mode)}, not a file with rows")
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise DataError(f"{path} does not exist") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error

    def close() -> None:
        with suppress(OSError):
            os.close(handle)

    return TextSource(handle, options.layout, close)


SOURCE = SourceKind(
    name="table or JSON lines",
    addresses="- (standard input), rows.csv, rows.jsonl",
    schemes=(STDIN,),
    suffixes=(".csv", ".txt", ".json", ".jsonl", ".ndjson"),
    open=open_text,
)
