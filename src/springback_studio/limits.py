"""Limits of the server: how much a page may request, and which pages may connect."""

import ipaddress
import socket
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from springback import check

SESSIONS_MAX = 8
"""The largest number of open tabs; each takes about three megabytes."""

MESSAGES_PER_SECOND = 120
BURST = 240


class TokenBucket:
    """A token bucket: a number of allowed messages that refills over time.

    Examples
    --------
    >>> moments = iter([0.0, 0.0, 0.0, 0.5, 2.0])
    >>> bucket = TokenBucket(per_second=1.0, burst=2, clock=lambda: next(moments))
    >>> [bucket.take() for _ in range(4)]
    [True, True, False, True]
    """

    def __init__(
        self,
        per_second: float = MESSAGES_PER_SECOND,
        burst: int = BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate, self._burst, self._clock = per_second, float(burst), clock
        self._left, self._when = float(burst), clock()

    def take(self) -> bool:
        """Whether one more message is allowed now."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._when) * self._rate)
        self._when = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def checked_host(host: str, *, allow_remote: bool) -> str:
    """The address to listen on; one that other machines can reach is refused unless `allow_remote`.

    Examples
    --------
    >>> checked_host("0.0.0.0", allow_remote=False)
    Traceback (most recent call last):
    ValueError: host must be 127.0.0.1, ::1 or localhost unless remote access is allowed; got '0.0.0.0'
    """
    fits = is_loopback(host) or allow_remote
    check.require(fits, "host", "be 127.0.0.1, ::1 or localhost unless remote access is allowed", host)
    return host


class Door:
    """Which requests are accepted: those that name this server as their host and come from its own pages.

    A page of another site whose name is made to point here (DNS rebinding) still names itself in `Host` and `Origin`.
    On loopback only loopback names are accepted; otherwise also plain addresses, which no other site can claim as its
    name, and this machine's own name.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._remote = not is_loopback(host)

    def knows(self, authority: str | None) -> bool:
        """Whether `Host: authority` means this server.

        Examples
        --------
        >>> Door("127.0.0.1").knows("localhost:8100"), Door("127.0.0.1").knows("evil.example:8100")
        (True, False)
        """
        name = _name_of(authority)
        if name is None:
            return False
        if is_loopback(name):
            return True
        return self._remote and (_is_address(name) or name in (self._host, socket.gethostname()))

    def admits(self, authority: str | None, origin: str | None) -> bool:
        """Whether a live connection may be opened: from a page that this very host has served.

        Examples
        --------
        >>> Door("127.0.0.1").admits("localhost:8100", "http://localhost:8100")
        True
        >>> Door("127.0.0.1").admits("localhost:8100", "http://evil.example")
        False
        """
        if not self.knows(authority) or not origin:
            return False
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and parts.netloc.lower() == (authority or "").lower()


def _name_of(authority: str | None) -> str | None:
    try:
        return urlsplit(f"//{authority}").hostname if authority else None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
