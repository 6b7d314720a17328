"""The tab of digits: frames are sent at the chosen speed, and only after the page has drawn the previous one."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import lru_cache
from typing import Any, NoReturn

from springback_studio import replies
from springback_studio.controls import MODELS
from springback_studio.gif_recording import GifRecording
from springback_studio.requests import Message, drawing_of, parse
from springback_studio.session import TITLES, Session, Snapshot
from springback_studio.tab import SendBytes, SendJson, Tab
from springback_studio.view import View

STEPS_MAX = 20
"""The largest number of pending steps; further key presses are ignored."""


class DigitsTab(Tab):
    """A session and its page. `hear` handles messages from the page; `run` shows frames until it is cancelled.

    All work on the session is done by one worker at a time, outside the server's own thread. Frames that are due before
    the page has drawn the last one are computed but not sent: the page may skip frames, but it never falls behind. If
    it pauses on a frame that was not sent, that frame is sent when the page is ready.

    If a model cannot start, the page is told why; the previous model continues, and another one can be chosen.
    """

    def __init__(self, send_json: SendJson, send_bytes: SendBytes, workers: Executor) -> None:
        super().__init__(send_json, send_bytes, workers)
        self._wake = asyncio.Event()
        self._playing, self._steps = True, 0
        self._sent, self._seen, self._stale = -1, -1, False
        self._recording: GifRecording | None = None
        self._wanted = View()
        self.session: Session | None = None
        self.n_sent, self.n_dropped = 0, 0

    async def greet(self, view: View, *, own_source: bool = False) -> None:
        """Greet the page, start the model and show its first picture."""
        self._wanted, self._playing = view, view.frames == 0
        await self._send_json(replies.greeting(own_source=own_source))
        await self._start(view.model)

    def _parse(self, text: str) -> Message:
        return parse(text)

    def _running(self) -> Session:
        if self.session is None:
            raise ValueError("a model must be running for that; choose one that can start")
        return self.session

    async def _see(self, data: bytes) -> None:
        drawing, session = drawing_of(data), self._running()
        before = session.view.source
        async with self._turn:
            await self._work(session.draw, drawing)
        if before != "drawing":
            await self._send_json(replies.stage(session))
        await self._show_if_paused(session)

    async def _obey(self, message: Message) -> None:
        ask, values = message
        if ask == "model":
            await self._start(values["model"])
            return
        session = self._running()
        if ask == "seen":
            self._seen = max(self._seen, values["frame"])
            if self._stale:
                await self._show_if_paused(session)
        elif ask in ("play", "pause"):
            async with self._turn:
                self._playing = ask == "play"
            self._wake.set()
            await self._send_json({"say": "playing", "playing": self._playing})
            await self._show_if_paused(session)
        elif ask == "step":
            async with self._turn:
                self._playing, self._steps = False, min(self._steps + 1, STEPS_MAX)
            self._wake.set()
            await self._send_json({"say": "playing", "playing": False})
        elif ask == "command":
            async with self._turn:
                await self._send_json(replies.command(session))
        elif ask == "record":
            await self._record(values["on"])
        else:
            try:
                async with self._turn:
                    await self._work(_ACTIONS[ask], session, values)
            finally:
                await self._send_json(replies.stage(session))
            await self._show_if_paused(session)

    async def _start(self, model: str) -> None:
        """Show a model, or say why it cannot start."""
        text = (
            f"Loading: {TITLES[model]}. The first time, it is compiled for this machine, which takes about 20 seconds."
        )
        await self._send_json({"say": "busy", "text": text})
        begins = self.session is None
        session, why = await self._started(started, self.session, self._wanted.of_model(model))
        self.session = session or self.session
        if self.session is not None:
            await self._send_json(replies.stage(self.session))
        if why:
            await self._send_json(replies.failure(model, why))
        elif self.session is not None and (begins or not self._playing):
            await self._look(self.session)
        self._wake.set()

    async def run(self) -> NoReturn:
        """Show frame after frame while playing, or as many as were requested."""
        while True:
            await self._wake.wait()
            began = time.monotonic()
            async with self._turn:
                session = self.session
                if session is None or not (self._playing or self._steps):
                    self._wake.clear()
                    continue
                self._steps = max(self._steps - 1, 0)
                data = await self._made(session, session.advance)
            await self._send(data)
            if self._recording is not None and self._recording.full:
                await self._send_json({"say": "recording_full"})
                await self._record(False)
            await asyncio.sleep(max(0.0, 1 / session.view.speed - (time.monotonic() - began)))

    async def _made(self, session: Session, make: Callable[[], Snapshot]) -> bytes | None:
        """A picture that is ready to be sent; None if the page is still busy with the last one. Needs the lock."""
        picture = await self._work(make)
        if self._recording is not None and picture.frame > 0:
            await self._work(self._recording.add, picture)
        self._stale = self._seen < self._sent
        if self._stale:
            self.n_dropped += 1
            return None
        self._sent += 1
        self.n_sent += 1
        return await self._work(replies.packed, picture, session, self._playing, self._sent)

    async def _send(self, data: bytes | None) -> None:
        if data is not None:
            await self._send_bytes(data)

    async def _look(self, session: Session) -> None:
        async with self._turn:
            data = await self._made(session, session.look)
        await self._send(data)

    async def _show_if_paused(self, session: Session) -> None:
        if not self._playing:
            await self._look(session)

    async def _record(self, on: bool) -> None:
        if on:
            self._recording = GifRecording()
            await self._send_json({"say": "recording", "on": True})
            return
        recording, self._recording = self._recording, None
        await self._send_json({"say": "recording", "on": False})
        if recording is None or not recording.n_frames:
            raise ValueError("a recording must have at least one frame; press Play while it runs")
        await self._send_bytes(await self._work(recording.gif))


@lru_cache(maxsize=len(MODELS))
def warm_up(model: str) -> None:
    """Compile what a model needs, once and in a separate session, so that its first frame appears at once."""
    Session(View(model=model)).advance()


def started(session: Session | None, view: View) -> Session:
    """The session with the model of the view, or a new one if there is none yet."""
    warm_up(view.model)
    if session is None:
        return Session(view)
    session.choose_model(view.model)
    return session


_ACTIONS: dict[str, Callable[[Session, Any], None]] = {
    "source": lambda session, values: session.choose_source(values["source"]),
    "digit": lambda session, values: session.pick(values["digit"], values["example"]),
    "occlude": lambda session, values: session.occlude(values["rows"]),
    "noise": lambda session, _: session.throw_noise(),
    "control": lambda session, values: session.control(values["name"], values["value"]),
    "reset": lambda session, _: session.reset_controls(),
    "restart": lambda session, _: session.restart(),
    "speed": lambda session, values: session.set_speed(values["speed"]),
}
