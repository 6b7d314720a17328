"""The tab of one's own stream: frames of the browser in, or frames of the source out."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, NoReturn

from springback import check
from springback_studio.limits import TokenBucket
from springback_studio.own_stream import messages
from springback_studio.own_stream.answers import AnswerCounts, FrameAnswer
from springback_studio.own_stream.feed import Feed
from springback_studio.own_stream.recognisers import NetworkRecogniser, Recogniser, TaughtRecogniser
from springback_studio.own_stream.stream import OwnStream
from springback_studio.own_stream.taught_things import warm_up
from springback_studio.requests import Message
from springback_studio.tab import SendBytes, SendJson, Tab

FRAMES_PER_SECOND, FRAME_BURST = 40.0, 80
"""How many frames a browser may send; the page sends ten, and each only after the answer to the one before."""

_LOOK_S = 0.05


class OwnStreamTab(Tab):
    """One tab: its recogniser, or its view of the shared feed.

    Parameters
    ----------
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
        super().__init__(send_json, send_bytes, workers)
        self._stream, self._feed = stream, feed
        self._bucket = TokenBucket(FRAMES_PER_SECOND, FRAME_BURST)
        self._counts = AnswerCounts()
        self._teaching: int | None = None
        self._watching = False
        self._version, self._sent, self._seen = -1, -1, -1
        self.recogniser: Recogniser | None = None

    async def greet(self) -> None:
        """Say what can be opened here."""
        await self._send_json(messages.greeting(self._stream))

    def _parse(self, text: str) -> Message:
        return messages.parse_own(text)

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
            await self._send_bytes(messages.packed({**said, "number": self._sent, "names": self._feed.names}, data))

    async def _see(self, data: bytes) -> None:
        recogniser = self._opened()
        wanted = recogniser.frame_bytes
        check.require(len(data) == wanted, "a frame", f"have {wanted} bytes", len(data))
        check.require(self._bucket.take(), "frames", f"come at most {FRAMES_PER_SECOND:g} times per second", "more")
        began = time.perf_counter()
        async with self._turn:
            told: FrameAnswer | None = await self._work(recogniser.see, data, self._teaching)
            column = None if told is None else self._counts.add(told)
        took_ms = 1000 * (time.perf_counter() - began)
        await self._send_json(messages.answer(recogniser, told, column, self._counts, self._teaching, took_ms))

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
            await self._send_json(messages.things(recogniser, self._teaching))

    async def _open(self, kind: str) -> None:
        """Begin with a camera, a microphone or the source; if that cannot start, say why."""
        if kind == "source":
            if self._feed is None:
                raise ValueError("a model and a source must be given when the studio is started")
            self.recogniser, self._watching, self._version = None, True, -1
            await self._work(self._feed.start)
            await self._send_json(messages.opened_source(self._feed))
            return
        text = "Starting. The first time, the model is compiled for this machine."
        await self._send_json({"say": "busy", "text": text})
        recogniser, why = await self._started(self._begin, kind)
        if recogniser is None:
            await self._send_json(messages.failure(self._stream, why))
        else:
            await self._send_json(messages.opened(kind, recogniser, self._stream))

    def _begin(self, kind: str) -> Recogniser:
        """Begin to recognise; if the model cannot start, nothing changes."""
        made: Recogniser
        if self._stream is not None and self._stream.open_source is None:
            made = NetworkRecogniser(self._stream.opened(), kind)
        else:
            warm_up()
            made = TaughtRecogniser.by_pictures() if kind == "camera" else TaughtRecogniser.by_sound()
        self.recogniser, self._teaching, self._watching = made, None, False
        self._counts.restart()
        return made

    def _change(self, recogniser: Recogniser, ask: str, values: Any) -> None:
        things = recogniser.things
        if ask == "restart":
            recogniser.restart()
            self._counts.restart()
            return
        if things is None or ask not in _TEACHING:
            raise ValueError(f"{ask} must not be asked of what is shown here")
        if ask == "teach":
            check.integer("thing", values["thing"], low=0, high=len(things.things) - 1)
            self._teaching = values["thing"]
        elif ask == "taught":
            self._teaching = None
            recogniser.restart()
            self._counts.restart()
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


_TEACHING: dict[str, Callable[..., Any]] = {
    "teach": lambda *_: None,
    "taught": lambda *_: None,
    "name": lambda things, values: things.rename(values["thing"], values["name"]),
    "forget": lambda things, values: things.forget(values["thing"]),
    "add": lambda things, _: things.add(),
    "memory": lambda things, values: things.set_memory(values["frames"]),
}
