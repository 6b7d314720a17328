"""The port of the studio: a listening socket, or a one-sentence error."""

import errno
import socket

from springback.check import DataError
from springback.extras import missing_extra

try:
    import uvicorn
except ImportError:
    raise missing_extra("springback studio", "uvicorn") from None


class StudioServer(uvicorn.Server):
    """A server that opens its port when it is run; a port that is not available raises a `DataError`."""

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit`."""
        try:
            listening = sockets or [listen(self.config.host, self.config.port)]
        except DataError:
            self.should_exit = True
            raise
        super().run(listening)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on that address; port 0 uses any free port.

    Examples
    --------
    >>> with listen("127.0.0.1", 0) as taken:
    ...     port = taken.getsockname()[1]
    ...     listen("127.0.0.1", port)
    Traceback (most recent call last):
    springback.check.DataError: port ... on 127.0.0.1 is in use; choose another with --port (0 uses any free port)
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, *_, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        return socket.create_server(address[:2], family=family)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            text = f"port {port} on {host} is in use; choose another with --port (0 uses any free port)"
        else:
            why = getattr(error, "strerror", None) or error
            text = f"the studio cannot listen on {host} port {port} ({why}); choose another --host or --port"
        raise DataError(text) from error
