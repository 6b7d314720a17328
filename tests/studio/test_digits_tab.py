"""A real server, and pages that speak to it without a browser."""

import gc
import json
import time
import urllib.error
import urllib.request
import weakref

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from springback.data.pretrained import shipped_digits
from springback_studio.digits_tab import warm_up
from springback_studio.limits import TokenBucket
from springback_studio.requests import DRAWING_BYTES, LARGEST_MESSAGE
from springback_studio.view import View
from tests.studio.chromium import PATIENCE_S
from tests.studio.conftest import eventually, serving

pytestmark = pytest.mark.waits


def get(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=PATIENCE_S) as answer:
        return answer.read(), answer.headers


def test_the_page_comes_with_a_strict_content_policy(studio):
    body, headers = get(studio.address)
    assert b"springback studio" in body
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert b"style=" not in body
    assert b"onclick" not in body
    assert body.count(b"<script") == body.count(b'<script type="module" src="main.js"></script>')


def test_digits_of_the_picker_are_the_shipped_ones(studio):
    assert get(studio.address + "digits")[0] == shipped_digits().pixels.tobytes()


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example"])
def test_a_request_under_another_name_is_refused(studio, host):
    with pytest.raises(urllib.error.HTTPError, match="421") as caught:
        get(studio.address, Host=host)
    caught.value.close()


@pytest.mark.parametrize("path", ["../server.py", "%2e%2e/server.py", "..%2fserver.py", "models/cnn.safetensors"])
def test_nothing_outside_the_page_is_served(studio, path):
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        get(studio.address + path)
    caught.value.close()


@pytest.mark.parametrize("origin", ["http://evil.example", "http://[::1", "http://[", "null"])
def test_a_page_of_another_origin_gets_no_live_connection(studio, origin):
    with pytest.raises(InvalidStatus, match="403"), studio.page(origin=origin):
        pass


def test_a_drawing_that_cannot_be_compressed_is_taken(studio):
    with studio.page() as page:
        page.hear("stage")
        page.ask("pause")
        page.hear("playing")
        page.socket.send(np.random.default_rng(0).integers(0, 256, DRAWING_BYTES, np.uint8).tobytes())
        stage = page.hear("stage")
        assert stage["view"]["source"] == "drawing"
        assert stage["view"]["has_drawing"]


def test_frames_are_dropped_and_not_queued_while_the_page_is_busy(studio):
    with studio.page() as page:
        page.hear("stage")
        page.ask("speed", speed=60)
        first, _ = page.picture()
        live = next(iter(studio.live))
        assert eventually(lambda: live.n_dropped > 20)
        assert live.n_sent == 1
        page.ask("seen", frame=first["number"])
        second, _ = page.picture()
        assert second["number"] == first["number"] + 1
        assert second["frame"] >= first["frame"] + 20


def test_a_bad_message_gets_one_sentence_and_changes_nothing(studio):
    with studio.page() as page:
        page.hear("stage")
        page.ask("pause")
        page.hear("playing")
        before = next(iter(studio.live)).session.view
        for wrong in (
            '{"ask": "occlude", "rows": 99}',
            "nonsense",
            b"short",
            '{"ask": "control", "name": "pull", "value": -1}',
            '{"ask": "control", "name": "pull", "value": ' + "9" * 430 + "}",
            '{"ask": "occlude", "rows": -' + "9" * 430 + "}",
            '{"ask": "control", "name": "pull", "value": Infinity}',
            "[" * 499,
            "x" * LARGEST_MESSAGE,
            bytes(DRAWING_BYTES + 1),
            b"",
        ):
            page.socket.send(wrong)
            why = page.hear("refused")["why"]
            assert "must" in why
            assert "\n" not in why
        assert next(iter(studio.live)).session.view.settings == before.settings
        assert next(iter(studio.live)).session.view.occlude == before.occlude


def test_tabs_have_separate_state(studio):
    with studio.page() as one, studio.page() as other:
        for page in (one, other):
            page.hear("stage")
            page.ask("pause")
            page.hear("playing")
        one.ask("occlude", rows=11)
        assert one.hear("stage")["view"]["occlude"] == 11
        other.ask("digit", digit=9, example=3)
        view = other.hear("stage")["view"]
        assert (view["occlude"], view["digit"]) == (0, 9)


def test_a_closed_tab_frees_its_memory(studio):
    with studio.page() as page:
        page.hear("stage")
        kept = weakref.ref(next(iter(studio.live)).session)
        assert kept() is not None
    assert eventually(lambda: not studio.live)
    assert eventually(lambda: gc.collect() is not None and kept() is None)


def test_a_flood_of_messages_closes_the_connection_and_says_why(studio, monkeypatch):
    monkeypatch.setattr("springback_studio.server.TokenBucket", lambda: TokenBucket(per_second=0.0, burst=5))
    with studio.page() as page:
        page.hear("stage")
        for _ in range(6):
            page.ask("command")
        assert "too many messages" in page.closed()
        with pytest.raises(ConnectionClosed):
            page.listen()
    assert eventually(lambda: not studio.live)


def test_too_large_a_message_closes_the_connection(studio):
    with studio.page() as page:
        page.hear("stage")
        page.socket.send(bytes(LARGEST_MESSAGE + 1))
        with pytest.raises(ConnectionClosed):
            page.listen()


def test_an_internal_error_is_one_sentence_and_the_session_goes_on(studio, monkeypatch, caplog):
    monkeypatch.setattr("springback_studio.session.Session.occlude", lambda *_: 1 / 0)
    with studio.page() as page:
        page.hear("stage")
        page.ask("occlude", rows=3)
        assert page.hear("refused")["why"].startswith("Internal error; see the terminal")
        page.ask("digit", digit=4, example=0)
        assert page.hear("stage")["view"]["digit"] == 4
    assert "ZeroDivisionError" in caplog.text


def test_an_error_while_frames_are_shown_is_said_before_the_connection_ends(studio, monkeypatch, caplog):
    warm_up("elastic")  # a first tab would fail while it starts, and say so in another way
    monkeypatch.setattr("springback_studio.session.Session.advance", lambda *_: 1 / 0)
    with studio.page() as page:
        assert page.closed().startswith("Internal error; see the terminal")
    assert "ZeroDivisionError" in caplog.text


def test_one_tab_too_many_is_told_so(studio, monkeypatch):
    monkeypatch.setattr("springback_studio.server.SESSIONS_MAX", 1)
    assert eventually(lambda: not studio.live)
    with studio.page() as first:
        first.hear("stage")
        with studio.page() as second:
            assert "at most 1 tabs" in second.hear("closed")["why"]


def test_stepping_shows_one_frame_at_a_time(studio):
    with studio.page() as page:
        page.hear("stage")
        page.ask("pause")
        page.hear("playing")
        page.ask("restart")
        page.hear("stage")
        head, _ = page.picture_seen()
        while head["frame"] != 0:
            head, _ = page.picture_seen()
        for wanted in (1, 2, 3):
            page.ask("step")
            head, _ = page.picture_seen()
            assert head["frame"] == wanted


def test_a_recording_comes_back_as_a_gif(studio):
    with studio.page() as page:
        page.hear("stage")
        page.ask("speed", speed=60)
        page.ask("record", on=True)
        assert page.hear("recording")["on"]
        for _ in range(3):
            page.picture_seen()
        page.ask("record", on=False)
        while True:
            data = page.socket.recv(timeout=PATIENCE_S)
            if isinstance(data, bytes) and data[:6] == b"GIF89a":
                break


@pytest.mark.parametrize("model", ["spiking", "elastic", "cnn"])
def test_a_frame_costs_less_than_a_tenth_of_a_second_of_cpu(model, capsys):
    if model == "cnn":
        pytest.importorskip("torch")
    with serving(View(model=model, speed=60)) as studio, studio.page() as page:
        page.hear("stage")
        page.picture_seen()
        (first, _), began, worked, sizes = page.picture_seen(), time.monotonic(), time.process_time(), []
        for _ in range(40):
            last, body = page.picture_seen()
            sizes.append(len(body))
        took, worked = time.monotonic() - began, time.process_time() - worked
    n = last["frame"] - first["frame"]
    with capsys.disabled():
        print(f"\n{model}: {n / took:.1f} frames/s of both models, all panels, {np.mean(sizes) / 1024:.0f} KiB each")
    assert worked / n < 1 / 10  # half of that on an idle machine


def test_the_frames_of_a_stream_are_the_librarys(studio):
    with studio.page() as page:
        page.hear("stage")
        head, body = page.picture_seen()
        page.ask("digit", digit=2, example=4)
        while head["label"] != 2:
            head, body = page.picture_seen()
        assert (np.frombuffer(body[:784], np.uint8) == shipped_digits().pixels[24].ravel()).all()
        assert json.dumps(head)
