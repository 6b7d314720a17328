"""A clean end: Ctrl-C, and the signal of a service manager, end the stream after the piece that is being answered."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

_SIGNALS = ("SIGINT", "SIGTERM")


class StopSignals:
    """Notices that the user wants to end; a second Ctrl-C ends at once.

    Examples
    --------
    >>> with StopSignals() as stop:
    ...     stop.is_asked()
    False
    """

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def is_asked(self) -> bool:
        """Whether the user wants to end."""
        return self._asked

    def _note(self, number: int, _: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = True

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
            self._before = {number: signal.signal(number, self._note) for number in numbers}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
