"""Complete lines from a pipe, a file or a socket, as they arrive."""

import os
import select
from collections.abc import Callable
from typing import NamedTuple

from springback.live.sources.source import PATIENCE_S

LONGEST_LINE = 2**24
"""Bytes; a longer line is bad, and is skipped without being kept."""

_PIECE = 2**16
_AT_ONCE = 2**20
"""Bytes that are read before lines are handed on, if they are there already."""


class Lines(NamedTuple):
    """Lines without their ends, and how many were too long."""

    lines: list[bytes]
    too_long: int


class LineSplitter:
    r"""Cuts pieces of text into lines and keeps the rest for the next piece.

    Examples
    --------
    >>> splitter = LineSplitter()
    >>> splitter.feed(b"1,2\n3,").lines, splitter.feed(b"4\r\n").lines, splitter.end().lines
    ([b'1,2'], [b'3,4'], [])
    """

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self.longest = longest
        self.forget()

    def feed(self, piece: bytes) -> Lines:
        """The lines that this piece completes."""
        head, end, rest = piece.rpartition(b"\n")
        if not end:
            return self._keep(piece)
        lines = (b"".join(self._parts) + head).split(b"\n")
        too_long = int(self._skipping)
        lines = lines[too_long:]
        fits = [one for one in lines if len(one) <= self.longest]
        too_long += len(lines) - len(fits)
        self.forget()
        self._keep(rest)
        return Lines([one.rstrip(b"\r") for one in fits if one.strip()], too_long)

    def end(self) -> Lines:
        """The last line, if the text does not end with a line break."""
        last, skipped = b"".join(self._parts), int(self._skipping)
        self.forget()
        return Lines([last.rstrip(b"\r")] if last.strip() else [], skipped)

    def forget(self) -> None:
        """Drop an incomplete line."""
        self._parts: list[bytes] = []
        self._kept, self._skipping = 0, False

    def _keep(self, rest: bytes) -> Lines:
        if not self._skipping and rest:
            self._parts.append(rest)
            self._kept += len(rest)
            if self._kept > self.longest:
                self.forget()
                self._skipping = True
        return Lines([], 0)


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
    while size < _AT_ONCE and _is_readable(handle, 0 if pieces else patience_s):
        piece = read(_PIECE)
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
    else:
        if not pieces:
            return None
    return b"".join(pieces)


def _is_readable(handle: int, patience_s: float) -> bool:
    if os.name != "posix":  # elsewhere only sockets can be waited for
        return True
    return bool(select.select([handle], [], [], patience_s)[0])
