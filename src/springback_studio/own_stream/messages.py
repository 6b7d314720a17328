"""The messages of the page of the user's own stream: what it may ask, and what it is sent.

Frames are bytes of exactly the size asked for.
"""

import json
import unicodedata
from typing import Any

from springback import check
from springback_studio.own_stream.answers import AnswerCounts, FrameAnswer, largest
from springback_studio.own_stream.feed import Feed
from springback_studio.own_stream.recognisers import Recogniser
from springback_studio.own_stream.stream import FASTEST, SLOWEST, OwnStream
from springback_studio.own_stream.taught_things import NAME_MAX, THINGS_MAX
from springback_studio.requests import Asks, Message, parse, whole, word
from springback_studio.view import SPEED_MAX

KINDS = ("camera", "microphone", "source")
"""What a page can open: what the browser records, or the source that was given on the command line."""

MEMORY_BOUNDS = (0.5, 60.0)
"""Of the slider, in frames."""


def _name(name: str, value: Any) -> str:
    """Letters and other characters that can be seen, without spaces at the ends."""
    check.require(isinstance(value, str), name, "be text", value)
    shown = " ".join(value.split())
    fits = 0 < len(shown) <= NAME_MAX and not any(unicodedata.category(one)[0] == "C" for one in shown)
    check.require(fits, name, f"have 1 to {NAME_MAX} characters that can be seen", value[: 2 * NAME_MAX])
    return shown


def _frames(name: str, value: Any) -> float:
    return check.real(name, value, low=MEMORY_BOUNDS[0], high=MEMORY_BOUNDS[1])


_thing = whole(0, THINGS_MAX - 1)

_ASKS: Asks = {
    "open": {"kind": word(KINDS)},
    "teach": {"thing": _thing},
    "taught": {},
    "name": {"thing": _thing, "name": _name},
    "forget": {"thing": _thing},
    "add": {},
    "memory": {"frames": _frames},
    "restart": {},
    "play": {},
    "pause": {},
    "step": {},
    "speed": {"speed": whole(1, SPEED_MAX)},
    "seen": {"frame": whole(0, 2**53)},
}


def parse_own(text: str) -> Message:
    """A request from its JSON text.

    Examples
    --------
    >>> parse_own('{"ask": "name", "thing": 1, "name": "a  cup "}').values["name"]
    'a cup'
    >>> parse_own('{"ask": "teach", "thing": 99}')
    Traceback (most recent call last):
    ValueError: thing must be <= 5; got 99
    """
    return parse(text, _ASKS)


def greeting(stream: OwnStream | None) -> dict[str, Any]:
    """What can be opened here, and the bounds of what the page may ask."""
    return {
        "say": "hello",
        "model": None if stream is None else stream.model_name,
        "source": None if stream is None else stream.source_name,
        "things_max": THINGS_MAX,
        "name_max": NAME_MAX,
        "memory_bounds": list(MEMORY_BOUNDS),
        "speed_bounds": [SLOWEST, FASTEST],
    }


def opened(kind: str, recogniser: Recogniser, stream: OwnStream | None) -> dict[str, Any]:
    """The camera or the microphone may send frames now."""
    return {
        "say": "opened",
        "kind": kind,
        "asks_for": recogniser.asks_for,
        "model": None if recogniser.things is not None or stream is None else stream.model_name,
        **_classes(recogniser, None),
    }


def opened_source(feed: Feed) -> dict[str, Any]:
    """The source is followed."""
    said = {"say": "opened", "kind": "source", "asks_for": None, "model": feed.stream.model_name}
    return {**said, "source": feed.stream.source_name, "names": feed.names, "things": None, "memory_frames": None}


def things(recogniser: Recogniser, teaching: int | None) -> dict[str, Any]:
    """The names of the classes, and what was taught of each."""
    return {"say": "things", **_classes(recogniser, teaching)}


def _classes(recogniser: Recogniser, teaching: int | None) -> dict[str, Any]:
    found = recogniser.things
    shown = None if found is None else [one.shown for one in found.things]
    memory = None if found is None else found.memory
    return {"names": recogniser.names, "things": shown, "teaching": teaching, "memory_frames": memory}


def answer(
    recogniser: Recogniser,
    told: FrameAnswer | None,
    column: dict[str, Any] | None,
    counts: AnswerCounts,
    teaching: int | None,
    compute_ms: float,
) -> dict[str, Any]:
    """The answer to one frame; without a column until two things are known."""
    found = recogniser.things
    return {
        "say": "answer",
        "columns": [] if column is None else [column],
        "memory": None if told is None or told.memory is None else largest(told.memory),
        "things": None if found is None else [one.shown for one in found.things],
        "teaching": teaching,
        "compute_ms": round(compute_ms, 2),
        **counts.said(),
    }


def failure(stream: OwnStream | None, why: str) -> dict[str, Any]:
    """The model cannot start, and why."""
    return {"say": "failed", "title": "this model" if stream is None else stream.model_name, "why": why}


def packed(said: dict[str, Any], data: bytes) -> bytes:
    r"""A message with the bytes of a frame: length of the JSON text (4 bytes), text, bytes.

    Examples
    --------
    >>> packed({"number": 1}, b"abc")
    b'\x0c\x00\x00\x00{"number":1}abc'
    """
    text = json.dumps(said, separators=(",", ":"), allow_nan=False).encode()
    return len(text).to_bytes(4, "little") + text + data
