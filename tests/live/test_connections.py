"""Sockets and MQTT: the same answers as `track`, also across a lost connection."""

import json
import socket
import threading
import time

import numpy as np
import pytest

from springback.check import DataError
from springback.live import RowLayout, SourceOptions, Tally, open_source
from tests.live.conftest import LONG_S, posteriors

pytestmark = pytest.mark.waits

LAYOUT = RowLayout(width=4)


def lines(rows):
    return [json.dumps({"time": k, "features": row}).encode() + b"\n" for k, row in enumerate(rows.tolist())]


def serve(listener, parts):
    """Give each connection one part, and close it."""

    def run():
        for part in parts:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(part)
        listener.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def listening(tmp_path, family):
    if family == "unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "s"))
        address = f"unix:{tmp_path / 's'}"
    else:
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{listener.getsockname()[1]}"
    listener.listen()
    return listener, address


@pytest.mark.parametrize("family", ["tcp", "unix"])
def test_a_socket_is_followed_across_a_lost_connection(family, rows, expected, tmp_path):
    listener, address = listening(tmp_path, family)
    whole = lines(rows)
    serve(listener, [b"".join(whole[:25]) + whole[25][:9], b"".join(whole[25:])])
    events = []
    options = SourceOptions(layout=LAYOUT, retry_s=1.0, on_event=events.append)
    tally = Tally()
    found = posteriors(open_source(address, options), tally=tally)
    assert (found == expected).all()
    assert tally.reasons == ["the connection was lost in the middle of a line"]
    assert tally.lost == 1
    assert events[0] == f"connected to {address} again"


@pytest.mark.parametrize(
    ("address", "part"),
    [
        ("tcp://127.0.0.1", "must be tcp://HOST:PORT"),
        ("tcp://127.0.0.1:99999", "must be tcp://HOST:PORT"),
        ("unix:/nowhere/at/all", "cannot be reached"),
        ("mqtt://127.0.0.1:1", "must be mqtt://"),
        ("mqtt://user:secret@127.0.0.1/topic", "a password must not be part of an address"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_sentence(address, part):
    with pytest.raises(DataError, match=part) as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


def test_a_port_where_nobody_listens_is_one_sentence():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for address in (f"tcp://127.0.0.1:{port}", f"mqtt://127.0.0.1:{port}/topic"):
            with pytest.raises(DataError, match="cannot be reached"):
                open_source(address)


def test_a_topic_is_followed_across_a_restart_of_the_broker(broker, rows, expected):
    events = []
    options = SourceOptions(layout=LAYOUT, retry_s=LONG_S, on_event=events.append)
    source = open_source(f"mqtt://127.0.0.1:{broker.port}/hall/+", options)
    whole = lines(rows)
    tally = Tally()

    def send():
        broker.publish([*whole[:20], b"oops", b"".join(whole[20:25])])
        while tally.frames < 25:
            time.sleep(0.02)
        broker.stop()
        broker.start()
        while len(events) < 2:
            time.sleep(0.02)
        broker.publish(whole[25:])

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    found = posteriors(source, tally=tally, limit=40)
    sender.join(LONG_S)
    assert (found == expected).all()
    assert tally.bad == 1
    assert tally.lost == 1
    assert [one.split()[0] for one in events[:2]] == ["lost", "connected"]


def test_messages_wait_at_the_broker_while_the_model_is_busy(broker, rows):
    source = open_source(f"mqtt://127.0.0.1:{broker.port}/hall/imu", SourceOptions(layout=LAYOUT))
    many = np.tile(rows, (25, 1))
    sender = threading.Thread(target=broker.publish, args=(lines(many),), daemon=True)
    sender.start()
    sizes = []
    with source:
        while sum(sizes) < len(many):
            time.sleep(0.01)
            sizes.append(len(source.read()))
    sender.join(LONG_S)
    assert max(sizes) <= 256
