"""Rows from an MQTT topic (extra: mqtt); a lost connection is made again.

The client has no thread of its own: messages are taken from the broker only when the model has time for them.
"""

import os
import time
from collections import deque
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from springback.check import DataError
from springback.extras import require_extra
from springback.live.frames import NOTHING, Bad, Frames, Signal, no_frames
from springback.live.sources.retry import Retry
from springback.live.sources.rows import joined
from springback.live.sources.source import PATIENCE_S, Source, SourceKind, SourceOptions
from springback.live.sources.text import TextRows

PASSWORD = "SPRINGBACK_MQTT_PASSWORD"
"""The environment variable with the password, which should not be part of a command."""

LARGEST_MESSAGE = 2**24
"""Bytes; a larger message is bad, and is not kept while it is received."""

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_KEEP_ALIVE_S = 60
_AT_ONCE = 256
_READY_S = 10.0
_PIECE = 2**16
_LONGEST_HEADER = 2**17
"""Bytes of a packet before its payload, at most: the name of a topic, and its number."""


class MqttSource(Source):
    """Messages of a topic; each holds one row or several lines of them, as JSON or with commas.

    A topic has no end: the stream has ended when there was no connection to the broker for `retry_s`.

    Parameters
    ----------
    address : str
        "mqtt://[USER@]HOST[:PORT]/TOPIC", or "mqtts://" for an encrypted connection; a topic may have the wildcards +
        and #.
    options : SourceOptions
        Their layout, `retry_s` and `on_event` are used.
    """

    live = True

    def __init__(self, address: str, options: SourceOptions) -> None:
        require_extra("an MQTT source", "paho")
        self.signal = Signal(kind="rows")
        scheme, user, self._host, self._port, self._topic = _parts_of(address)
        self._say = options.on_event
        self._retry = Retry(options.retry_s)
        self._rows = TextRows(options.layout)
        self._messages: deque[bytes | Bad] = deque()
        self._told = False
        self._connected = self._subscribed = False
        self._refusal = ""
        self._client = self._new_client(scheme, user)
        try:
            self._client.connect(self._host, self._port, _KEEP_ALIVE_S)
        except (OSError, ValueError) as error:
            raise DataError(f"the broker {self._host}:{self._port} cannot be reached: {error}") from error
        self._await_subscription()

    def _new_client(self, scheme: str, user: str | None) -> Any:
        from paho.mqtt.enums import CallbackAPIVersion

        client = _client_class()(CallbackAPIVersion.VERSION2)
        if user is not None:
            client.username_pw_set(user, os.environ.get(PASSWORD))
        if scheme == "mqtts":
            client.tls_set()
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        return client

    def _on_message(self, client: Any, _: Any, message: Any) -> None:
        size = max(len(message.payload), client.packet_size())
        large = Bad(0, f"a message must have at most {LARGEST_MESSAGE:,} bytes; one has {size:,}")
        self._messages.append(large if size > LARGEST_MESSAGE else bytes(message.payload))

    def _on_connect(self, client: Any, _: Any, __: Any, reason: Any, ___: Any) -> None:
        if reason.is_failure:
            self._refusal = f"the broker {self._host}:{self._port} refuses the connection: {reason}"
            return
        client.subscribe(self._topic, qos=1)

    def _on_subscribe(self, _: Any, __: Any, ___: Any, reasons: Any, ____: Any) -> None:
        if any(one.is_failure for one in reasons):
            self._refusal = f"the broker refuses the topic {self._topic!r}: {reasons[0]}"
        self._connected = self._subscribed = True

    def _await_subscription(self) -> None:
        """Work on the connection until the topic is subscribed to, so that no later message is missed."""
        ends = time.monotonic() + _READY_S
        while not self._subscribed and not self._refusal:
            if self._client.loop(PATIENCE_S) or time.monotonic() > ends:
                self._refusal = self._refusal or f"the broker {self._host}:{self._port} does not answer as MQTT"
        if self._refusal:
            self.close()
            raise DataError(self._refusal)

    def read(self) -> Frames | None:
        """The rows of the messages that have come in; while there is no connection, one attempt to make it."""
        if not self._connected:
            return self._again()
        failed = self._client.loop(PATIENCE_S)
        while not failed and self._client.socket() is not None and 0 < len(self._messages) < _AT_ONCE:
            before = len(self._messages)
            if sum(len(one) for one in self._messages if isinstance(one, bytes)) > LARGEST_MESSAGE:
                break
            failed = self._client.loop(0.0)
            if len(self._messages) == before:
                break
        if failed:
            self._connected = self._subscribed = False
            self.lost += 1
            self._retry.failed()
            self._say(f"lost the connection to {self._host}:{self._port}; trying again")
        messages = [self._messages.popleft() for _ in range(len(self._messages))]
        found = joined([self._frames_of(one) for one in messages])
        if found.bad and not len(found) and not self._told:
            self._say(f"the first message cannot be used: {found.bad[0].why}")
        self._told = self._told or bool(len(found) or found.bad)
        return found

    def _frames_of(self, message: bytes | Bad) -> Frames:
        return no_frames(message) if isinstance(message, Bad) else self._rows.message(message)

    def _again(self) -> Frames | None:
        if self._retry.is_over:
            return None
        if not self._retry.is_due:
            time.sleep(min(PATIENCE_S, self._retry.wait_s))
            return NOTHING
        try:
            self._client.reconnect()
            self._await_subscription()
            self._retry.succeeded()
            self._say(f"connected to {self._host}:{self._port} again")
        except (OSError, ValueError):
            self._refusal = ""
            self._retry.failed()
        return NOTHING

    def close(self) -> None:
        """Leave the broker."""
        self._client.disconnect()
        self._client.loop(0.0)


@cache
def _client_class() -> Any:
    """A client that keeps no more than the beginning of a packet that is too large."""
    from paho.mqtt.client import Client

    class LimitedClient(Client):
        def packet_size(self) -> int:
            return int(self._in_packet["remaining_length"])

        def _sock_recv(self, bufsize: int) -> bytes:
            if self.packet_size() > LARGEST_MESSAGE:
                del self._in_packet["packet"][_LONGEST_HEADER:]
            return super()._sock_recv(min(bufsize, _PIECE))

    return LimitedClient


def _parts_of(address: str) -> tuple[str, str | None, str, int, str]:
    try:
        parts = urlsplit(address, allow_fragments=False)
        port = parts.port
    except ValueError:
        parts, port = urlsplit("mqtt:"), None
    topic = unquote(parts.path.removeprefix("/"))
    if not parts.hostname or not topic:
        raise DataError(f"an MQTT source must be mqtt://HOST[:PORT]/TOPIC; got {address!r}")
    if parts.password is not None:
        raise DataError(f"a password must not be part of an address; put it into the variable {PASSWORD}")
    return parts.scheme, parts.username, parts.hostname, port or _PORTS[parts.scheme], topic


SOURCE = SourceKind(
    name="MQTT topic",
    addresses="mqtt://HOST[:PORT]/TOPIC",
    schemes=tuple(_PORTS),
    open=MqttSource,
)
