"""A live connection of the page of one's own stream: frames of the browser in, or frames of the source out."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NoReturn, TypeVar

from springback import check
from springback.check import DataError
from springback.studio.limits import TokenBucket
from springback.studio.live import INTERNAL_ERROR, SendBytes, SendJson
from springback.studio.messages import Message
from springback.studio.own import packets
from springback.studio.own.account import Account, Told
from springback.studio.own.feed import Feed
from springback.studio.own.messages import parse_own
from springback.studio.own.recognisers import Network, Recogniser, Taught
from springback.studio.own.stream import OwnStream
from springback.studio.own.things import warm_up

FRAMES_PER_SECOND, FRAME_BURST = 40.0, 80
"""How many frames a browser may send; the page sends ten, and each only after the answer to the one before."""

_LOOK_S = 0.05
Value = TypeVar("Value")


class OwnLive:
    """One tab: its recogniser, or its view of the shared feed.

    Parameters
    ----------
    send_json, send_bytes
        Speak to the page.
    workers : Executor
        Where all computing is done; one call of a tab at a time.
    stream : OwnStream | None
        What the command line gave.
    feed : Feed | None
        Its source, shared by all tabs.
    """

    def __init__(
        self,
        send_json: SendJson,
        send_bytes: SendBytes,
        workers: Executor,
        stream: OwnStream | None,
        feed: Feed | None,
    ) -> None:
        self._send_json, self._send_bytes, self._workers = send_json, send_bytes, workers
        self._stream, self._feed = stream, feed
        self._turn = asyncio.Lock()
        self._bucket = TokenBucket(FRAMES_PER_SECOND, FRAME_BURST)
        self._account = Account()
        self._teaching: int | None = None
        self._watching = False
        self._version, self._sent, self._seen = -1, -1, -1
        self.recogniser: Recogniser | None = None

    async def greet(self) -> None:
        """Say what can be opened here."""
        await self._send_json(packets.greeting(self._stream))

    async def refuse(self, why: str) -> None:
        """Tell the page that its request was refused."""
        await self._send_json(packets.refusal(why))

    async def hear(self, data: str | bytes) -> None:
        """Handle a message or a frame; an invalid one is answered with one sentence and changes nothing."""
        try:
            if isinstance(data, bytes):
                await self._see(data)
            else:
                await self._obey(parse_own(data))
        except (ValueError, TypeError) as error:
            await self.refuse(" ".join(str(error).split()))

    async def run(self) -> NoReturn:
        """Show the feed, if this tab watches it, for as long as the tab is open."""
        while True:
            await asyncio.sleep(_LOOK_S)
            if not self._watching or self._feed is None or self._seen < self._sent:
                continue
            if self._feed.version == self._version:
                continue
            self._version, said, data = self._feed.since(self._version)
            self._sent += 1
            await self._send_bytes(packets.packed({**said, "number": self._sent, "names": self._feed.names}, data))

    async def _see(self, data: bytes) -> None:
        recogniser = self._opened()
        wanted = recogniser.frame_bytes
        check.require(len(data) == wanted, "a frame", f"have {wanted} bytes", len(data))
        check.require(self._bucket.take(), "frames", f"come at most {FRAMES_PER_SECOND:g} times per second", "more")
        began = time.perf_counter()
        async with self._turn:
            told: Told | None = await self._work(recogniser.see, data, self._teaching)
            column = None if told is None else self._account.add(told)
        took_ms = 1000 * (time.perf_counter() - began)
        await self._send_json(packets.answer(recogniser, told, column, self._account, self._teaching, took_ms))

    def _opened(self) -> Recogniser:
        if self.recogniser is None:
            raise ValueError("a camera or a microphone must be opened before frames are sent")
        return self.recogniser

    async def _obey(self, message: Message) -> None:
        ask, values = message
        if ask == "open":
            await self._open(values["kind"])
        elif ask == "seen":
            self._seen = max(self._seen, min(values["frame"], self._sent))
        elif self._watching:
            self._steer(ask, values)
        else:
            recogniser = self._opened()
            async with self._turn:
                await self._work(self._change, recogniser, ask, values)
            await self._send_json(packets.things(recogniser, self._teaching))

    async def _open(self, kind: str) -> None:
        """Begin with a camera, a microphone or the source; if that cannot start, say why."""
        if kind == "source":
            if self._feed is None:
                raise ValueError("a source must be given on the command line, with --model and --source")
            self.recogniser, self._watching, self._version = None, True, -1
            await self._work(self._feed.start)
            await self._send_json(packets.opened_source(self._feed))
            return
        text = "Starting. The first time, the model is compiled for this machine."
        await self._send_json({"say": "busy", "text": text})
        why = ""
        async with self._turn:
            try:
                recogniser: Recogniser = await self._work(self._made, kind)
            except DataError as error:
                why = str(error)
            except Exception:
                logging.getLogger(__name__).exception("the model cannot start")
                why = INTERNAL_ERROR
            else:
                self.recogniser, self._teaching, self._watching = recogniser, None, False
                self._account.restart()
        if why:
            await self._send_json(packets.failure(self._stream, why))
        else:
            await self._send_json(packets.opened(kind, self._opened(), self._stream))

    def _made(self, kind: str) -> Recogniser:
        if self._stream is not None and self._stream.open_source is None:
            return Network(self._stream.opened(), kind)
        warm_up()
        return Taught.by_pictures() if kind == "camera" else Taught.by_sound()

    def _change(self, recogniser: Recogniser, ask: str, values: Any) -> None:
        things = recogniser.things
        if ask == "restart":
            recogniser.restart()
            self._account.restart()
            return
        if things is None or ask not in _TEACHING:
            raise ValueError(f"{ask} must not be asked of what is shown here")
        if ask == "teach":
            check.integer("thing", values["thing"], low=0, high=len(things.things) - 1)
            self._teaching = values["thing"]
        elif ask == "taught":
            self._teaching = None
            recogniser.restart()
            self._account.restart()
        else:
            _TEACHING[ask](things, values)

    def _steer(self, ask: str, values: Any) -> None:
        feed = self._feed
        if feed is None or ask not in ("play", "pause", "step", "speed", "restart"):
            raise ValueError(f"{ask} must not be asked of a source")
        if ask == "restart":
            feed.restart()
        else:
            feed.pace.set(
                playing={"play": True, "pause": False, "step": False}.get(ask),
                speed=values.get("speed"),
                steps=int(ask == "step"),
            )
        feed.version += 1

    async def _work(self, function: Callable[..., Value], *arguments: Any) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._workers, function, *arguments)


_TEACHING: dict[str, Callable[..., Any]] = {
    "teach": lambda *_: None,
    "taught": lambda *_: None,
    "name": lambda things, values: things.rename(values["thing"], values["name"]),
    "forget": lambda things, values: things.forget(values["thing"]),
    "add": lambda things, _: things.add(),
    "memory": lambda things, values: things.set_memory(values["frames"]),
}
