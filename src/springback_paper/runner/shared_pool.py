"""One pool for several uses, one after the other: its workers are started once, and keep what they have loaded."""

from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self

from springback_paper.runner.pools import Pool


class SharedPool:
    """A pool that is made when it is first used, and closed at the end of the `with` block.

    A user that closes it leaves it open for the next, except `at_once`.
    """

    def __init__(self, make_pool: Callable[[], Pool]) -> None:
        self._make = make_pool
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close(at_once=kind is not None)

    @property
    def is_open(self) -> bool:
        """Whether there are workers."""
        return self._pool is not None

    @property
    def slots(self) -> int:
        """How many functions run at the same time."""
        return self._made().slots

    def submit(self, urgency: float, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Start a function."""
        return self._made().submit(urgency, function, *arguments)

    def close(self, *, at_once: bool = False) -> None:
        """End the workers if it has to be at once; otherwise others may still want them."""
        if at_once and self._pool is not None:
            self._pool.close(at_once=True)
            self._pool = None

    def _made(self) -> Pool:
        if self._pool is None:
            self._pool = self._make()
        return self._pool
