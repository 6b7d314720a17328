"""The server: a page, its files, the digits of the picker, and live connections; safe by default."""

import asyncio
import errno
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from springback.extras import missing_extra

try:
    import uvicorn
    from fastapi import FastAPI, Request, Response, WebSocket, WebSocketDisconnect
    from starlette.responses import PlainTextResponse
    from starlette.staticfiles import StaticFiles
except ImportError as error:
    raise missing_extra("springback studio", "uvicorn" if error.name == "uvicorn" else "fastapi") from None

from springback import check
from springback.check import DataError
from springback.data.pretrained import shipped_digits
from springback_studio.digits_tab import DigitsTab
from springback_studio.limits import SESSIONS_MAX, Door, TokenBucket, checked_host
from springback_studio.own_stream.feed import Feed
from springback_studio.own_stream.recognisers import LARGEST_FRAME
from springback_studio.own_stream.stream import OwnStream
from springback_studio.own_stream.tab import OwnStreamTab
from springback_studio.requests import LARGEST_MESSAGE
from springback_studio.tab import INTERNAL_ERROR, SendJson, Tab
from springback_studio.view import View

_LOG = logging.getLogger(__name__)

TRY_AGAIN, STRANGER = 1013, 1008
"""Close codes of a live connection: try again (after a message that says why), or refused because of its origin."""

WORKERS = "studio"
"""How the names of threads begin that work for the studio."""

Greeting = Callable[[], Awaitable[None]]
"""What is done first when a page has connected."""

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def make_app(view: View, *, host: str = "127.0.0.1", own: OwnStream | None = None) -> FastAPI:
    """The application; every tab of digits starts with the given view, and `own` is what the command line gave.

    `app.state.live` holds the connections that are open now.
    """
    door = Door(host)
    live: set[Tab] = set()
    feed = None if own is None or own.open_source is None else Feed(own)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.workers = ThreadPoolExecutor(2, WORKERS)
        try:
            yield
        finally:  # a model that is being compiled cannot be interrupted, and is not waited for
            app.state.workers.shutdown(wait=False, cancel_futures=True)
            if feed is not None:
                feed.stop()

    app = FastAPI(title="springback studio", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.live = live

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        if not door.knows(request.headers.get("host")):
            return PlainTextResponse(
                "The request names a host other than this server.", status_code=421, headers=_HEADERS
            )
        response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    @app.get("/digits")
    def digits() -> Response:
        try:
            pixels = shipped_digits().pixels
        except DataError as error:
            return PlainTextResponse(str(error), status_code=503)
        return Response(pixels.tobytes(), media_type="application/octet-stream")

    async def admit(tab: WebSocket, make: Callable[[SendJson], tuple[Tab, Greeting]], largest: int) -> None:
        if not door.admits(tab.headers.get("host"), tab.headers.get("origin")):
            await tab.close(STRANGER)
            return
        await tab.accept()
        if len(live) >= SESSIONS_MAX:
            text = f"This studio shows at most {SESSIONS_MAX} tabs at once; close one and reload."
            await _end(tab, text)
            return

        async def say(said: dict[str, Any]) -> None:
            await tab.send_text(json.dumps(said, allow_nan=False))

        one, greet = make(say)
        live.add(one)
        try:
            await converse(tab, one, greet, largest)
        finally:
            live.discard(one)

    @app.websocket("/live")
    async def connect(tab: WebSocket) -> None:
        def make(say: SendJson) -> tuple[Tab, Greeting]:
            one = DigitsTab(say, tab.send_bytes, app.state.workers)
            return one, partial(one.greet, view, own_source=feed is not None)

        await admit(tab, make, LARGEST_MESSAGE)

    @app.websocket("/own")
    async def connect_own(tab: WebSocket) -> None:
        def make(say: SendJson) -> tuple[Tab, Greeting]:
            one = OwnStreamTab(say, tab.send_bytes, app.state.workers, own, feed)
            return one, one.greet

        await admit(tab, make, LARGEST_FRAME)

    app.mount("/", StaticFiles(directory=Path(str(files("springback_studio") / "page")), html=True))
    return app


async def converse(tab: WebSocket, one: Tab, greet: Greeting, largest: int) -> None:
    """Listen to the page and show it frames until it disconnects, exceeds a limit or an error occurs; then say why."""
    tasks = [asyncio.create_task(_show(one, greet)), asyncio.create_task(_listen(tab, one, largest))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for why in ends:
        if isinstance(why, str):
            await _end(tab, why)


async def _listen(tab: WebSocket, one: Tab, largest: int) -> str | None:
    """Handle messages; returns why the connection must end, or None if the page has disconnected."""
    bucket = TokenBucket()
    try:
        while True:
            message = await tab.receive()
            if message["type"] == "websocket.disconnect":
                return None
            if not bucket.take():
                return "This page sends too many messages; reload it."
            text = message.get("text")
            data: str | bytes = text if text is not None else message.get("bytes") or b""
            if len(data) > largest:
                return "This page sends messages that are too large; reload it."
            try:
                await one.hear(data)
            except WebSocketDisconnect:
                raise
            except Exception:
                _LOG.exception("a message could not be answered")
                await one.refuse(INTERNAL_ERROR)
    except WebSocketDisconnect:
        return None


async def _show(one: Tab, greet: Greeting) -> str | None:
    """Show frames; returns why the connection must end, or None if the page has disconnected."""
    try:
        await greet()
        await one.run()
    except WebSocketDisconnect:
        return None
    except Exception:
        _LOG.exception("a live view ended")
        return f"{INTERNAL_ERROR} Reload this page to start again."


async def _end(tab: WebSocket, why: str) -> None:
    with suppress(WebSocketDisconnect):
        await tab.send_json({"say": "closed", "why": why})
        await tab.close(TRY_AGAIN)


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
    springback.check.DataError: port ... on 127.0.0.1 is in use; choose another port (0 uses any free one)
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, *_, address = min(found, key=lambda one: one[0] != socket.AF_INET)
        return socket.create_server(address[:2], family=family)
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            text = f"port {port} on {host} is in use; choose another port (0 uses any free one)"
        else:
            why = getattr(error, "strerror", None) or error
            text = f"the studio cannot listen on {host} port {port} ({why}); choose another host or port"
        raise DataError(text) from error


def make_server(
    view: View,
    *,
    host: str = "127.0.0.1",
    port: int = 8100,
    allow_remote: bool = False,
    own: OwnStream | None = None,
) -> StudioServer:
    """A server that is ready to run; an address that others can reach is refused unless `allow_remote`.

    Examples
    --------
    >>> make_server(View(), host="192.0.2.1")
    Traceback (most recent call last):
    ValueError: host must be 127.0.0.1, ::1 or localhost unless remote access is allowed; got '192.0.2.1'
    """
    checked_host(host, allow_remote=allow_remote)
    check.integer("port", port, low=0, high=65535)
    options: dict[str, Any] = {
        "log_level": "error",
        "ws": "websockets-sansio",
        "ws_max_size": max(LARGEST_MESSAGE, LARGEST_FRAME),
        "ws_max_queue": 16,
        "ws_per_message_deflate": False,
        "server_header": False,
        "timeout_graceful_shutdown": 1,
    }
    return StudioServer(uvicorn.Config(make_app(view, host=host, own=own), host=host, port=port, **options))
