"""Complete lines from a pipe, a file or a socket, as they arrive."""

import os
import select
from collections.abc import Callable

from springback.live.sources.source import PATIENCE_S

LONGEST_LINE = 2**24
"""Bytes; a longer line is bad, and is skipped without being kept."""

Line = bytes | None
"""A line without its end; None: it was too long."""

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
        self.forget()

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
        self.forget()
        self._keep(rest)
        return lines

    def end(self) -> list[Line]:
        """The last line, if the text does not end with a line break."""
        last, skipped = b"".join(self._parts), self._skipping
        self.forget()
        return [None] if skipped else [last.rstrip(b"\r")] if last.strip() else []

    def forget(self) -> None:
        """Drop an incomplete line."""
        self._parts: list[bytes] = []
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
