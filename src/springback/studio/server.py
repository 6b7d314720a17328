"""The server: a page, its files, the digits of the picker, and live connections; safe by default."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
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
from springback.studio.limits import SESSIONS_MAX, Allowance, Door, checked_host
from springback.studio.live import Live
from springback.studio.messages import DRAWING_BYTES
from springback.studio.shipped import shipped_digits
from springback.studio.view import View

TRY_AGAIN, STRANGER = 1013, 1008
"""Why a live connection is closed: for now, with a sentence before; or because it comes from elsewhere."""

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
            return PlainTextResponse("This studio answers only to its own name.", status_code=421, headers=_HEADERS)
        response = await call_next(request)
        response.headers.update(_HEADERS)
        return response

    @app.get("/digits")
    def digits() -> Response:
        return Response(shipped_digits().pixels.tobytes(), media_type="application/octet-stream")

    @app.websocket("/live")
    async def connect(socket: WebSocket) -> None:
        if not door.admits(socket.headers.get("host"), socket.headers.get("origin")):
            await socket.close(STRANGER)
            return
        await socket.accept()
        if len(live) >= SESSIONS_MAX:
            text = f"This studio shows at most {SESSIONS_MAX} tabs at once; close one and reload."
            await _end(socket, text)
            return
        one = Live(socket.send_json, socket.send_bytes, app.state.workers)
        live.add(one)
        try:
            await converse(socket, one, view)
        finally:
            live.discard(one)

    app.mount("/", StaticFiles(directory=Path(str(files("springback.studio") / "page")), html=True))
    return app


async def converse(socket: WebSocket, one: Live, view: View) -> None:
    """Listen to the page and show it frames, until it leaves or asks for too much."""
    showing = asyncio.create_task(_show(socket, one, view))
    allowance = Allowance()
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not allowance.take():
                await _end(socket, "This page sends too many messages; reload it.")
                return
            text = message.get("text")
            await one.hear(text if text is not None else message.get("bytes") or b"")
    except WebSocketDisconnect:
        return
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


async def _show(socket: WebSocket, one: Live, view: View) -> None:
    try:
        await one.begin(view)
        await one.run()
    except WebSocketDisconnect:
        return
    except DataError as error:
        await _end(socket, str(error))
    except Exception:
        logging.getLogger(__name__).exception("a live view ended")
        await _end(socket, "The studio stumbled; its terminal says over what. Reload this page.")


async def _end(socket: WebSocket, why: str) -> None:
    await socket.send_json({"say": "closed", "why": why})
    await socket.close(TRY_AGAIN)


def make_server(view: View, *, host: str = "127.0.0.1", port: int = 8100, allow_remote: bool = False) -> uvicorn.Server:
    """A server that is ready to run; an address that others can reach is refused unless `allow_remote`.

    >>> make_server(View(), host="192.0.2.1")
    Traceback (most recent call last):
    ValueError: host must be 127.0.0.1, ::1 or localhost unless you add --allow-remote; got '192.0.2.1'
    """
    checked_host(host, allow_remote=allow_remote)
    check.integer("port", port, low=0, high=65535)
    options: dict[str, Any] = {
        "log_level": "error",
        "ws": "websockets-sansio",
        "ws_max_size": DRAWING_BYTES,
        "ws_max_queue": 16,
        "server_header": False,
        "timeout_graceful_shutdown": 2,
    }
    return uvicorn.Server(uvicorn.Config(make_app(view, host=host), host=host, port=port, **options))
