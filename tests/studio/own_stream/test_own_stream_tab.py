"""The conversation with the page of one's own stream, and a real server."""

import asyncio
import json
import urllib.request

import numpy as np
import pytest

from springback.check import DataError
from springback.extras import missing_extra
from springback.heads import ElasticHead
from springback.live.follower import Follower, ModelOptions
from springback.live.frames import Frames, Signal
from springback.live.preparation import Pictures, Sound
from springback.live.sources.source import Source
from springback_studio.own_stream.recognisers import LARGEST_FRAME
from springback_studio.own_stream.stream import OwnStream
from springback_studio.own_stream.tab import OwnStreamTab
from springback_studio.requests import LARGEST_MESSAGE
from springback_studio.view import View
from tests.studio.conftest import eventually, opened, serving
from tests.studio.message_fuzz import Inline, Page
from tests.studio.own_stream.test_taught_things import picture

ROWS = np.random.default_rng(0).normal(size=(12, 3)).round(3)
NAMES = ("left", "middle", "right")
LABELS = ["left", "middle", "right"] * 4


def make_follower():
    return Follower(ElasticHead(5 * np.eye(3), np.zeros(3)), "head.safetensors", ModelOptions(classes=NAMES))


class Recorded(Source):
    """Rows as a file gives them, all at once."""

    signal = Signal(kind="rows", shape=(3,))

    def __init__(self, values=ROWS, labels=LABELS, signal=None):
        self.signal = signal or self.signal
        self._left = [Frames(values=values, labels=labels), None]

    def read(self):
        return self._left.pop(0)


def make_stream(source=Recorded, model=make_follower, speed=60):
    return OwnStream(
        model_name="head.safetensors",
        open_model=model,
        source_name=None if source is None else "rows.csv",
        open_source=None if source is None else (lambda _: source()),
        speed=speed,
    )


class Said(Page):
    """A page that keeps what it heard."""

    def __init__(self):
        super().__init__()
        self.all = []

    async def hear(self, said):
        await super().hear(said)
        self.all.append(said)


def conversation(*messages, stream=None):
    """What a page hears that sends these messages."""
    page = Said()

    async def talk():
        live = OwnStreamTab(page.hear, page.look, Inline(), stream, None)
        await live.greet()
        for one in messages:
            await live.hear(one if isinstance(one, bytes) else json.dumps(one))

    asyncio.run(talk())
    return page


def test_a_lesson_and_its_answers():
    lesson = [{"ask": "open", "kind": "camera"}]
    for thing in (0, 1):
        lesson += [
            {"ask": "teach", "thing": thing},
            *[picture(thing, seed=n).tobytes() for n in range(3)],
            {"ask": "taught"},
        ]
    page = conversation(*lesson, {"ask": "name", "thing": 1, "name": "stripes"}, picture(1).tobytes())
    assert page.heard["refused"] == 0
    opened_, *_, last = [one for one in page.all if one["say"] in ("opened", "answer")]
    assert opened_["asks_for"] == {"kind": "pictures", "height": 72, "width": 96}
    assert last["columns"][0]["shares"][0][0][0] == 1
    assert last["things"] == [3, 3, 0]
    assert last["frames"] == 1
    assert page.all[-2]["names"] == ["Background", "stripes", "Thing 2"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (b"short", "a frame must have 20736 bytes; got 5"),
        ({"ask": "teach", "thing": 5}, "thing must be <= 2; got 5"),
        ({"ask": "name", "thing": 0, "name": " "}, "name must have 1 to 24 characters that can be seen"),
        ({"ask": "name", "thing": 0, "name": "a\u202eb"}, "name must have 1 to 24 characters"),
        ({"ask": "memory", "frames": 1e9}, "frames must be <= 60"),
        ({"ask": "play"}, "play must not be asked of what is shown here"),
        ({"ask": "open", "kind": "source"}, "a model and a source must be given when the studio is started"),
    ],
)
def test_a_wrong_message_is_one_sentence(wrong, why):
    page = conversation({"ask": "open", "kind": "camera"}, wrong)
    assert len(page.refused) == 1
    assert page.refused[0].startswith(why)


def test_a_frame_before_anything_is_open_is_refused():
    assert conversation(b"x").refused == ["a camera or a microphone must be opened before frames are sent"]


def test_frames_are_limited_in_number(monkeypatch):
    monkeypatch.setattr("springback_studio.own_stream.tab.FRAME_BURST", 2)
    monkeypatch.setattr("springback_studio.own_stream.tab.FRAMES_PER_SECOND", 1e-9)
    page = conversation({"ask": "open", "kind": "camera"}, *[picture(0).tobytes()] * 3)
    assert page.heard["answer"] == 2
    assert page.refused[0].startswith("frames must come at most")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (missing_extra("network.onnx", "onnxruntime"), "network.onnx needs onnxruntime: pip install 'springback["),
        (DataError("network.onnx is damaged"), "network.onnx is damaged"),
        (RuntimeError("unforeseen"), "Internal error; see the terminal"),
    ],
)
def test_a_model_that_cannot_start_says_so(error, why):
    def fail():
        raise error

    page = conversation({"ask": "open", "kind": "camera"}, stream=make_stream(None, fail))
    failed = page.all[-1]
    assert failed["say"] == "failed"
    assert failed["title"] == "head.safetensors"
    assert failed["why"].startswith(why)
    assert "\n" not in failed["why"]


@pytest.fixture(scope="module")
def own_studio():
    with serving(View(model="elastic", source="digit"), own=make_stream()) as served:
        yield served


def watch(page, done):
    """What the page is told about the source, until `done`; columns are collected."""
    columns = []
    while True:
        said, data = page.picture()
        columns += said["columns"]
        page.ask("seen", frame=said["number"])
        if done(said):
            return said, columns, data


@pytest.mark.waits
def test_a_source_is_followed_with_the_answers_of_track(own_studio):
    with own_studio.page("/own") as page:
        assert page.hear("hello")["source"] == "rows.csv"
        page.ask("open", kind="source")
        said, columns, _ = watch(page, lambda said: said["state"] == "ended")
        assert said["names"] == ["left", "middle", "right"]
        assert (said["frames"], said["labelled"]) == (12, 12)
        expected = make_follower().model.track_response(ROWS)
        for column, posterior, at_rest in zip(columns, expected.posterior, expected.frozen, strict=True):
            for which, wanted in enumerate((posterior, at_rest)):
                for label, share in column["shares"][which]:
                    assert abs(share - wanted[label]) < 1e-4
        right = [
            sum(NAMES[k] == label for k, label in zip(one.argmax(axis=1), LABELS, strict=True))
            for one in (expected.posterior, expected.frozen)
        ]
        assert said["correct"] == right
        page.ask("restart")
        said, again, _ = watch(page, lambda said: said["state"] == "ended" and said["frames"] == 12)
        assert [one["shares"] for one in again[-12:]] == [one["shares"] for one in columns]


@pytest.mark.waits
def test_a_source_can_be_paused_and_stepped(own_studio):
    with own_studio.page("/own") as page:
        page.hear("hello")
        page.ask("open", kind="source")
        watch(page, lambda said: said["state"] == "ended")
        page.ask("pause")
        page.ask("restart")
        watch(page, lambda said: said["state"] == "running" and said["frames"] == 0)
        page.ask("step")
        said, columns, _ = watch(page, lambda said: said["frames"] == 1)
        assert not said["playing"]
        assert columns[-1]["values"] == ROWS[0].tolist()
        page.ask("teach", thing=0)
        assert page.hear("refused")["why"] == "teach must not be asked of a source"
        page.ask("play")
        watch(page, lambda said: said["state"] == "ended")


@pytest.mark.waits
@pytest.mark.parametrize("kind", ["pictures", "sound"])
def test_a_source_that_does_not_fit_the_model_says_so_on_the_page(kind):
    shape = (2, 30, 40, 3) if kind == "pictures" else (2, 900)
    stream = make_stream(lambda: Recorded(np.zeros(shape, np.uint8), None, Signal(kind=kind)))
    with serving(View(model="elastic", source="digit"), own=stream) as served, served.page("/own") as page:
        page.hear("hello")
        page.ask("open", kind="source")
        said, _, _ = watch(page, lambda said: said["state"] == "failed")
        assert f"gives {kind}" in said["why"]


class Blind(Follower):
    """Answers pictures or sound without looking at them closely."""

    def __init__(self, takes):
        super().__init__(ElasticHead(np.eye(3), np.zeros(3)), "net.onnx")
        self.preparation = takes

    def answer(self, values, times, _keys=None):
        flat = self.preparation.prepare(values).reshape(len(values), -1)
        seen = np.stack([flat.mean(1), flat.max(1), flat.min(1)], axis=1)
        return self.model.track_response(seen, times, in_place=True)


PICTURES = Pictures(height=40, width=40, channels="rgb", mean=(0.5,) * 3, std=(0.5,) * 3, fit="crop")
SOUND = Sound(rate_hz=8000, window=1600, hop=800)


@pytest.mark.waits
@pytest.mark.parametrize(
    ("takes", "values", "shown", "size"),
    [
        (PICTURES, np.full((2, 300, 400, 3), 9, np.uint8), {"kind": "pictures", "height": 100, "width": 133}, 39_900),
        (SOUND, np.zeros((2, 1600), np.float32), {"kind": "sound", "pairs": 256}, 512),
    ],
    ids=["pictures", "sound"],
)
def test_pictures_and_sound_of_a_source_are_shown(takes, values, shown, size):
    kind = shown["kind"]
    signal = Signal(kind=kind, rate_hz=8000.0)
    stream = make_stream(lambda: Recorded(values, None, signal), lambda: Blind(takes))
    with serving(View(model="elastic", source="digit"), own=stream) as served, served.page("/own") as page:
        page.hear("hello")
        page.ask("open", kind="source")
        said, _, data = watch(page, lambda said: said["state"] in ("ended", "failed"))
        assert said["why"] == "The source has ended."
        assert said["shown"] == shown
        assert len(data) == size


@pytest.mark.parametrize(
    ("takes", "kind", "asks_for"),
    [
        (PICTURES, "camera", {"kind": "pictures", "height": 40, "width": 53}),
        (SOUND, "microphone", {"kind": "sound", "rate_hz": 8000, "hop": 800}),
    ],
    ids=["camera", "microphone"],
)
def test_a_network_of_ones_own_sees_what_the_browser_sends(takes, kind, asks_for):
    size = 40 * 53 * 3 if kind == "camera" else 1600
    stream = make_stream(None, lambda: Blind(takes))
    page = conversation(
        {"ask": "open", "kind": kind}, bytes(size), bytes(size), {"ask": "restart"}, {"ask": "add"}, stream=stream
    )
    opened_ = next(one for one in page.all if one["say"] == "opened")
    assert opened_["asks_for"] == asks_for
    assert opened_["things"] is None
    assert page.heard["answer"] == 2
    assert page.refused == ["add must not be asked of what is shown here"]


@pytest.mark.waits
def test_frames_of_a_browser_are_larger_than_drawings_and_limited_too(own_studio):
    from websockets.exceptions import ConnectionClosed

    with own_studio.page() as page:
        page.hear("stage")
        page.socket.send(bytes(LARGEST_MESSAGE + 1))
        assert "too large" in page.closed()
    with own_studio.page("/own") as page:
        page.hear("hello")
        page.socket.send(bytes(LARGEST_FRAME))
        assert "must be opened" in page.hear("refused")["why"]
        page.socket.send(bytes(LARGEST_FRAME + 1))
        with pytest.raises(ConnectionClosed):
            page.listen()
    assert eventually(lambda: not own_studio.live)


@pytest.mark.waits
def test_the_page_of_ones_own_stream_loads_nothing_from_elsewhere(own_studio):
    with urllib.request.urlopen(own_studio.address + "own.html", timeout=240) as answer:
        body, policy = answer.read(), answer.headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy
    assert b"http" not in body
    assert b"style=" not in body


def test_opened_packets_hold_pictures():
    from springback_studio.own_stream.messages import packed

    said, data = opened(packed({"number": 3}, b"xyz"))
    assert (said, data) == ({"number": 3}, b"xyz")
