"""When to try a lost connection again: soon at first, then less and less often, and not for ever."""

import time
from collections.abc import Callable

_FIRST_S, _MOST_S = 0.2, 10.0


class Retry:
    """Counts failures and the time since the last success.

    Parameters
    ----------
    limit_s : float
        How long to try.
    clock : Callable[[], float]
        Seconds, from any beginning.

    Examples
    --------
    >>> retry = Retry(5.0, clock=lambda: 100.0)
    >>> retry.failed()
    >>> retry.is_due, retry.wait_s, retry.is_over
    (False, 0.2, False)
    """

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s, self._clock = limit_s, clock
        self.succeeded()

    def succeeded(self) -> None:
        """The connection works."""
        self._wait_s = _FIRST_S
        self._since: float | None = None
        self._next = 0.0

    def failed(self) -> None:
        """The connection was lost, or could not be made."""
        now = self._clock()
        self._since = now if self._since is None else self._since
        self._next = now + self._wait_s
        self._wait_s = min(2 * self._wait_s, _MOST_S)

    @property
    def wait_s(self) -> float:
        """Seconds until the next attempt."""
        return max(0.0, round(self._next - self._clock(), 6))

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next attempt."""
        return self._clock() >= self._next

    @property
    def is_over(self) -> bool:
        """Whether there was no connection for too long."""
        return self._since is not None and self._clock() - self._since >= self._limit_s
