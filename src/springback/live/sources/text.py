"""Rows from standard input or from a file: tables with commas, or JSON lines."""

import os
import select
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from springback.check import DataError
from springback.files.atomic import what_it_is
from springback.live.frames import NOTHING, Bad, Frames, Signal, no_frames
from springback.live.sources.csv_rows import CsvRows
from springback.live.sources.json_rows import JsonRows
from springback.live.sources.layout import RowLayout
from springback.live.sources.rows import LONGEST_LINE, Line, RowParser
from springback.live.sources.source import PATIENCE_S, Source, SourceKind, SourceOptions

STDIN = "-"
_PIECE = 2**16
_AT_ONCE = 2**18
"""Bytes that are read before lines are handed on, if they are there already."""


class LineSplitter:
    r"""Cuts pieces of text into lines and keeps the rest for the next piece.

    Examples
    --------
    >>> splitter = LineSplitter()
    >>> splitter.feed(b"1,2\n3,"), splitter.feed(b"4\r\n"), splitter.end()
    ([b'1,2'], [b'3,4'], [])
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.longest = longest
        self._parts: list[bytes] = []
        self._kept, self._skipping = 0, False

    @property
    def kept(self) -> int:
        """Bytes of an incomplete line."""
        return self._kept

    def feed(self, piece: bytes) -> list[Line]:
        """The lines that this piece completes."""
        head, end, rest = piece.rpartition(b"\n")
        if not end:
            self._keep(piece)
            return []
        lines: list[Line] = [None] if self._skipping else []
        whole = (b"".join(self._parts) + head).split(b"\n")[len(lines) :]
        lines += [one.rstrip(b"\r") if len(one) <= self.longest else None for one in whole if one.strip()]
        if len(rest) > self.longest:
            self.forget()
            self._keep(rest)
        else:
            self._parts, self._kept, self._skipping = [rest] if rest else [], len(rest), False
        return lines

    def end(self) -> list[Line]:
        """The last line, if the text does not end with a line break."""
        last, skipped = b"".join(self._parts), self._skipping
        self.forget()
        return [None] if skipped else [last.rstrip(b"\r")] if last.strip() else []

    def forget(self) -> None:
        """Drop an incomplete line."""
        self._parts = []
        self._kept, self._skipping = 0, False

    def _keep(self, rest: bytes) -> None:
        if not self._skipping and rest:
            self._parts.append(rest)
            self._kept += len(rest)
            if self._kept > self.longest:
                self.forget()
                self._skipping = True


def waiting_bytes(handle: int, read: Callable[[int], bytes], *, patience_s: float = PATIENCE_S) -> bytes | None:
    """What can be read now; empty: the stream has ended. None: nothing within `patience_s`.

    Parameters
    ----------
    handle : int
        The file descriptor that is waited for.
    read : Callable[[int], bytes]
        Reads at most the given number of bytes from it.
    """
    pieces: list[bytes] = []
    size = 0
    while size < _AT_ONCE:
        # Elsewhere only sockets can be waited for.
        if os.name == "posix" and not select.select([handle], [], [], 0 if pieces else patience_s)[0]:
            return b"".join(pieces) if pieces else None
        piece = read(_PIECE)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


class TextRows:
    """Rows from pieces of text; the first line shows whether they are JSON or a table."""

    def __init__(self, layout: RowLayout) -> None:
        self._layout = layout
        self._parser: RowParser | None = None
        self._splitter = LineSplitter()

    @property
    def unfinished(self) -> int:
        """Bytes of a line whose end has not come in."""
        return self._splitter.kept

    def feed(self, piece: bytes) -> Frames:
        """The rows of the lines that this piece completes."""
        lines = self._splitter.feed(piece)
        return self._parsed(lines) if self._parser is None else self._parser.parse(lines)

    def message(self, payload: bytes) -> Frames:
        """The rows of a whole message; one that does not fit is bad, also if it is the first."""
        try:
            return self._parsed([*self._splitter.feed(payload), *self._splitter.end()])
        except DataError as error:
            self._parser = None
            return no_frames(Bad(0, f"a message does not fit: {error}"))

    def pass_over(self, piece: bytes, count: int) -> tuple[int, Frames]:
        """Pass over at most `count` rows of a piece: how many were passed over unread, and what was read of it."""
        lines = self._splitter.feed(piece)
        if self._parser is None or not self._parser.is_settled or len(lines) > count:
            return 0, self._parsed(lines)
        self._parser.pass_over(len(lines))
        return len(lines), NOTHING

    def end(self) -> Frames:
        """The row of a last line without a line break."""
        return self._parsed(self._splitter.end())

    def cut(self) -> Frames:
        """No row: a last line without a line break may have lost its end, so it is bad. A new connection follows."""
        if self._parser is not None:
            self._parser.begin_again()
        lost = Bad(0, "the connection was lost in the middle of a line")
        return no_frames(lost) if self._splitter.end() else NOTHING

    def _parsed(self, lines: list[Line]) -> Frames:
        if self._parser is None and lines:
            first = next((one for one in lines if one is not None), b"")
            is_json = first.lstrip(b"\xef\xbb\xbf \t")[:1] in (b"{", b"[")
            self._parser = (JsonRows if is_json else CsvRows)(self._layout)
        return NOTHING if self._parser is None else self._parser.parse(lines)


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
    recorded : bool
        Whether it is a file, which can be read again.
    """

    def __init__(self, handle: int, layout: RowLayout, close: Callable[[], None], *, recorded: bool = False) -> None:
        self.signal = Signal(kind="rows")
        self.recorded = recorded
        self._handle, self._close = handle, close
        self._take = partial(os.read, handle)
        self._rows = TextRows(layout)
        self._held: Frames | None = None
        self._ended = False

    @property
    def unfinished(self) -> int:
        """Bytes of a line whose end has not come in."""
        return self._rows.unfinished

    def skip(self, count: int) -> int:
        """Pass over rows; lines are counted without being read, as soon as it is known which columns are which."""
        passed = 0
        while passed < count and self._held is None and (piece := waiting_bytes(self._handle, self._take)):
            unread, found = self._rows.pass_over(piece, count - passed)
            passed += unread
            self._held = found if len(found) or found.bad else None
        return passed

    def read(self) -> Frames | None:
        """The rows that have come in."""
        if self._held is not None:
            found, self._held = self._held, None
            return found
        if self._ended:
            return None
        piece = waiting_bytes(self._handle, self._take)
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

    return TextSource(handle, options.layout, close, recorded=stat.S_ISREG(found.st_mode))


SOURCE = SourceKind(
    name="table or JSON lines",
    addresses="- (standard input), rows.csv, rows.jsonl",
    schemes=(STDIN,),
    suffixes=(".csv", ".txt", ".json", ".jsonl", ".ndjson"),
    open=open_text,
)
