"""One file from a web address, within limits of size and time."""

import threading

from springback.data.programs import UnavailableError


def download(address: str, limit: int, *, wait_s: float = 15.0, time_limit_s: float = 300.0) -> bytes:
    """The bytes at an address; redirects are not followed.

    Parameters
    ----------
    limit : int
        The largest number of bytes that is accepted.
    wait_s : float
        The longest wait for the next bytes.
    time_limit_s : float
        The longest wait for all of them.
    """
    import pooch

    got = _Bounded(limit)
    failures: list[Exception] = []
    fetch = pooch.HTTPDownloader(timeout=wait_s, allow_redirects=False, headers={"Accept-Encoding": "identity"})

    def work() -> None:
        try:
            fetch(address, got, None)
        except Exception as error:
            failures.append(error)

    # A server that sends single bytes slowly can block a read forever, so the read runs in its own thread.
    reading = threading.Thread(target=work, daemon=True)
    reading.start()
    reading.join(time_limit_s)
    if reading.is_alive():
        got.closed = True
        raise UnavailableError(f"it took longer than {time_limit_s:g} s")
    if failures:
        reason = str(failures[0]) if isinstance(failures[0], UnavailableError) else type(failures[0]).__name__
        raise UnavailableError(reason) from failures[0]
    return bytes(got.content)


class _Bounded:
    """A writable buffer with a size limit."""

    def __init__(self, limit: int) -> None:
        self.content = bytearray()
        self.limit = limit
        self.closed = False

    def write(self, block: bytes) -> int:
        if self.closed or len(self.content) + len(block) > self.limit:
            raise UnavailableError(f"it has more than {self.limit:,} bytes")
        self.content += block
        return len(block)

    def flush(self) -> None:
        """Do nothing, because everything is already in memory."""
