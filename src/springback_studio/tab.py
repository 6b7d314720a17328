"""What every tab of the studio is: a conversation with its page, computed outside the server's own thread."""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, NoReturn, TypeVar

from springback.check import DataError
from springback_studio.requests import Message

SendJson = Callable[[dict[str, Any]], Awaitable[None]]
SendBytes = Callable[[bytes], Awaitable[None]]
Value = TypeVar("Value")

INTERNAL_ERROR = "Internal error; see the terminal in which the studio was started."
_LONGEST_REFUSAL = 300


class Tab(ABC):
    """A tab hears messages from its page, and it runs until the page disconnects.

    Parameters
    ----------
    send_json, send_bytes
        Speak to the page.
    workers : Executor
        Where all computing is done; one call of a tab at a time.
    """

    def __init__(self, send_json: SendJson, send_bytes: SendBytes, workers: Executor) -> None:
        self._send_json, self._send_bytes, self._workers = send_json, send_bytes, workers
        self._turn = asyncio.Lock()

    @abstractmethod
    async def run(self) -> NoReturn:
        """Show what there is to show."""

    @abstractmethod
    def _parse(self, text: str) -> Message:
        """A request from its JSON text."""

    @abstractmethod
    async def _obey(self, message: Message) -> None:
        """Do what a request asks for."""

    @abstractmethod
    async def _see(self, data: bytes) -> None:
        """Take a picture or a sound."""

    async def hear(self, data: str | bytes) -> None:
        """Handle a message from the page; an invalid one is answered with one sentence and changes nothing."""
        try:
            if isinstance(data, bytes):
                await self._see(data)
            else:
                await self._obey(self._parse(data))
        except (ValueError, TypeError) as error:
            await self.refuse(" ".join(str(error).split()))

    async def refuse(self, why: str) -> None:
        """Tell the page that its request was refused; a very long sentence is cut off."""
        short = why if len(why) <= _LONGEST_REFUSAL else f"{why[: _LONGEST_REFUSAL - 3]}..."
        await self._send_json({"say": "refused", "why": short})

    async def _started(self, function: Callable[..., Value], *arguments: Any) -> tuple[Value | None, str]:
        """A model that is being started, or why it cannot start."""
        async with self._turn:
            try:
                return await self._work(function, *arguments), ""
            except DataError as error:
                return None, str(error)
            except Exception:
                logging.getLogger(__name__).exception("a model cannot start")
                return None, INTERNAL_ERROR

    async def _work(self, function: Callable[..., Value], *arguments: Any) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._workers, function, *arguments)
