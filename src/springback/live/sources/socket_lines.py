"""Rows from a TCP or Unix socket, as lines; a lost connection is made again."""

import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

from springback.check import DataError
from springback.live.frames import NOTHING, Frames, Signal
from springback.live.sources.retry import Retry
from springback.live.sources.source import PATIENCE_S, Source, SourceKind, SourceOptions
from springback.live.sources.text import TextRows, waiting_bytes

_CONNECT_S = 10.0


class SocketSource(Source):
    """A client that connects, reads lines, and connects again when the connection is lost.

    A stream through a socket has no end of its own: it has ended when there was no connection for `retry_s`.

    Parameters
    ----------
    address : str
        "tcp://HOST:PORT" or "unix:PATH".
    options : SourceOptions
        Their layout, `retry_s` and `on_event` are used.
    """

    def __init__(self, address: str, options: SourceOptions) -> None:
        self.signal = Signal(kind="rows")
        self._address, self._family, self._place = address, *_place_of(address)
        self._rows = TextRows(options.layout)
        self._say = options.on_event
        self._retry = Retry(options.retry_s)
        self._socket: socket.socket | None = None
        try:
            self._connect()
        except OSError as error:
            raise DataError(f"{address} cannot be reached: {error.strerror or error}") from error

    @property
    def unfinished(self) -> int:
        """Bytes of a line whose end has not come in."""
        return self._rows.unfinished

    def read(self) -> Frames | None:
        """The rows that have come in; while there is no connection, one attempt to make it."""
        if self._socket is None:
            return self._again()
        try:
            piece = waiting_bytes(self._socket.fileno(), self._socket.recv)
        except OSError:
            piece = b""
        if piece is None:
            return NOTHING
        if piece:
            self._retry.succeeded()
            return self._rows.feed(piece)
        self.lost += 1
        self._close_socket()
        self._retry.failed()
        return self._rows.cut()

    def _again(self) -> Frames | None:
        if self._retry.is_over:
            self.lost -= 1  # that was the end of the stream
            return None
        if not self._retry.is_due:
            time.sleep(min(PATIENCE_S, self._retry.wait_s))
            return NOTHING
        try:
            self._connect()
            self._say(f"connected to {self._address} again")
        except OSError as error:
            self._retry.failed()
            self._say(f"{self._address} cannot be reached ({error.strerror or error}); trying again")
        return NOTHING

    def _connect(self) -> None:
        made = socket.socket(self._family, socket.SOCK_STREAM)
        try:
            made.settimeout(_CONNECT_S)
            made.connect(self._place)
            made.settimeout(None)
        except OSError:
            made.close()
            raise
        self._socket = made

    def _close_socket(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
        self._socket = None

    def close(self) -> None:
        """Close the connection."""
        self._close_socket()


def _place_of(address: str) -> tuple[socket.AddressFamily, str | tuple[str, int]]:
    if address.startswith("unix:"):
        if not hasattr(socket, "AF_UNIX"):
            raise DataError("this system has no Unix sockets; use tcp://HOST:PORT")
        return socket.AF_UNIX, address.removeprefix("unix:").removeprefix("//")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.path:
        raise DataError(f"a TCP source must be tcp://HOST:PORT; got {address!r}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise DataError(f"{address} cannot be reached: {error.strerror or error}") from error
    return found[0], (str(found[4][0]), int(found[4][1]))


SOURCE = SourceKind(
    name="socket",
    addresses="tcp://HOST:PORT, unix:PATH",
    schemes=("tcp", "unix"),
    open=SocketSource,
)
