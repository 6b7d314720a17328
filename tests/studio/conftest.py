"""A real server on a free loopback port, and a page's side of the conversation without a browser."""

import json
import sys
import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi")

from websockets.sync.client import connect

from springback_studio.server import make_server
from springback_studio.view import View
from tests.studio.chromium import PATIENCE_S


class Served:
    """A running studio: its address, and the live connections it holds."""

    def __init__(self, server, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.address = f"http://{self.host}/"
        self.app = server.config.app

    @property
    def live(self):
        return self.app.state.live

    @contextmanager
    def page(self, path="/live", **headers):
        """A page as the server sees it."""
        origin = headers.pop("origin", f"http://{self.host}")
        with connect(
            f"ws://{self.host}{path}", origin=origin, open_timeout=PATIENCE_S, additional_headers=headers
        ) as socket:
            yield Page(socket)


class Page:
    """The other end of a live connection."""

    def __init__(self, socket) -> None:
        self.socket = socket

    def ask(self, what: str, **values) -> None:
        self.socket.send(json.dumps({"ask": what, **values}))

    def hear(self, say: str) -> dict:
        """The next sentence of that kind; others are passed over, and pictures are said to be seen."""
        while True:
            data = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(data, bytes):
                self.ask("seen", frame=opened(data)[0]["number"])
            elif json.loads(data)["say"] == say:
                return json.loads(data)

    def closed(self) -> str:
        """Why the server ends the connection; everything before is passed over and nothing is answered."""
        while True:
            data = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(data, str) and json.loads(data)["say"] == "closed":
                return json.loads(data)["why"]

    def picture(self) -> tuple[dict, bytes]:
        """The next picture: header and bytes."""
        while True:
            data = self.socket.recv(timeout=PATIENCE_S)
            if isinstance(data, bytes):
                return opened(data)

    def listen(self) -> None:
        """Take in whatever comes, until the connection ends."""
        while True:
            self.socket.recv(timeout=PATIENCE_S)

    def picture_seen(self) -> tuple[dict, bytes]:
        """The next picture, which is then said to be seen."""
        head, body = self.picture()
        self.ask("seen", frame=head["number"])
        return head, body


def opened(data: bytes) -> tuple[dict, bytes]:
    """A picture's header and bytes."""
    length = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + length]), data[4 + length :]


@contextmanager
def serving(view: View, **options):
    """A studio in a thread, closed at the end."""
    server = make_server(view, port=0, **options)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert eventually(lambda: server.started or not thread.is_alive())
    assert server.started
    try:
        yield Served(server, server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def eventually(holds) -> bool:
    """Whether something becomes true, however busy the machine is."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def no_torch(monkeypatch):
    """As if PyTorch were not installed."""
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.fixture(scope="module")
def studio():
    with serving(View(model="elastic", source="digit", digit=3)) as served:
        yield served
