"""The server: a page, its files, the digits of the picker, and live connections; safe by default."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
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
from springback.pretrained import shipped_digits
from springback.studio.limits import SESSIONS_MAX, Door, TokenBucket, checked_host
from springback.studio.listening import StudioServer
from springback.studio.live import INTERNAL_ERROR, Live
from springback.studio.messages import LARGEST_MESSAGE
from springback.studio.view import View

_LOG = logging.getLogger(__name__)

TRY_AGAIN, STRANGER = 1013, 1008
"""Close codes of a live connection: try again (after a message that says why), or refused because of its origin."""

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


def make_app(view: View, *, host: str = "127.0.0.1") -> FastAPI:
    """The application; every tab starts with the given view.

    `app.state.live` holds the connections that are open now.
    """
    door = Door(host)
    live: set[Live] = set()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ThreadPoolExecutor(2, "studio") as workers:
            app.state.workers = workers
            yield

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

    @app.websocket("/live")
    async def connect(tab: WebSocket) -> None:
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

        one = Live(say, tab.send_bytes, app.state.workers)
        live.add(one)
        try:
            await converse(tab, one, view)
        finally:
            live.discard(one)

    app.mount("/", StaticFiles(directory=Path(str(files("springback.studio") / "page")), html=True))
    return app


async def converse(tab: WebSocket, one: Live, view: View) -> None:
    """Listen to the page and show it frames until it disconnects, exceeds a limit or an error occurs; then say why."""
    tasks = [asyncio.create_task(_show(one, view)), asyncio.create_task(_listen(tab, one))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for why in ends:
        if isinstance(why, str):
            await _end(tab, why)


async def _listen(tab: WebSocket, one: Live) -> str | None:
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
            try:
                await one.hear(text if text is not None else message.get("bytes") or b"")
            except WebSocketDisconnect:
                raise
            except Exception:
                _LOG.exception("a message could not be answered")
                await one.refuse(INTERNAL_ERROR)
    except WebSocketDisconnect:
        return None


async def _show(one: Live, view: View) -> str | None:
    """Show frames; returns why the connection must end, or None if the page has disconnected."""
    try:
        await one.greet(view)
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


def make_server(view: View, *, host: str = "127.0.0.1", port: int = 8100, allow_remote: bool = False) -> StudioServer:
    """A server that is ready to run; an address that others can reach is refused unless `allow_remote`.

    Examples
    --------
    >>> make_server(View(), host="192.0.2.1")
    Traceback (most recent call last):
    ValueError: host must be 127.0.0.1, ::1 or localhost unless you add --allow-remote; got '192.0.2.1'
    """
    checked_host(host, allow_remote=allow_remote)
    check.integer("port", port, low=0, high=65535)
    options: dict[str, Any] = {
        "log_level": "error",
        "ws": "websockets-sansio",
        "ws_max_size": LARGEST_MESSAGE,
        "ws_max_queue": 16,
        "ws_per_message_deflate": False,
        "server_header": False,
        "timeout_graceful_shutdown": 2,
    }
    return StudioServer(uvicorn.Config(make_app(view, host=host), host=host, port=port, **options))
