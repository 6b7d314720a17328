"""Downloads from a server on this machine: too large, too slow, redirected or failing is one reason."""

import gc
import socketserver
import threading
import tracemalloc
import warnings
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest

from springback.data.fetching import UnavailableError, download


@pytest.fixture(autouse=True)
def no_socket_is_left_to_another_test():
    """A refused answer leaves a socket that requests has not closed; it is collected here, not in some later test."""
    before = set(threading.enumerate())
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # a server that still writes to the socket ends only now
        for thread in set(threading.enumerate()) - before:
            thread.join(60)
        gc.collect()


class Server(socketserver.ThreadingTCPServer):
    """Answers on a free port; `over` tells the handlers that the test has ended."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.over = threading.Event()

    def handle_error(self, _request, _address):
        """A client that hangs up is what the tests are about."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        getattr(self, self.path[1:])()

    def begin(self, code=200, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def whole(self):
        self.begin()
        self.wfile.write(b"x" * 1000)

    def endless(self):
        self.begin()
        while not self.server.over.is_set():
            self.wfile.write(bytes(1 << 16))

    def dripping(self):
        self.begin()
        while not self.server.over.wait(0.05):
            self.wfile.write(b"x")

    def silent(self):
        self.server.over.wait()

    def missing(self):
        self.begin(404)

    def elsewhere(self):
        self.begin(302, Location="/whole")

    def log_message(self, *_arguments):
        """Say nothing."""


@contextmanager
def serving():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def test_a_whole_file_arrives():
    with serving() as address:
        assert download(f"{address}/whole", 1000) == b"x" * 1000


def test_more_than_the_limit_is_refused_in_bounded_memory():
    with serving() as address:
        with pytest.raises(UnavailableError, match="it has more than 999 bytes"):
            download(f"{address}/whole", 999)
        tracemalloc.start()
        with pytest.raises(UnavailableError, match="it has more than 1,000,000 bytes"):
            download(f"{address}/endless", 1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize("how", ["dripping", "silent"])
def test_a_slow_server_is_given_up(how):
    with serving() as address, pytest.raises(UnavailableError, match=r"it took longer than 0.5 s"):
        download(f"{address}/{how}", 1000, time_limit_s=0.5)


def test_a_silent_server_is_given_up_sooner():
    with serving() as address, pytest.raises(UnavailableError, match="Timeout"):
        download(f"{address}/silent", 1000, wait_s=0.2)


def test_a_missing_file_and_a_server_that_is_not_there_are_reasons():
    with serving() as address, pytest.raises(UnavailableError, match="HTTPError"):
        download(f"{address}/missing", 1000)
    with pytest.raises(UnavailableError, match="ConnectionError"):
        download(f"{address}/whole", 1000)


def test_a_redirection_is_not_followed():
    with serving() as address:
        assert download(f"{address}/elsewhere", 1000) == b""
