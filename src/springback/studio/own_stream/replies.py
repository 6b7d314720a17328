"""What is sent to the page of the user's own stream."""

import json
from typing import Any

from springback.studio.own_stream.answers import AnswerCounts, FrameAnswer, largest
from springback.studio.own_stream.feed import Feed
from springback.studio.own_stream.recognisers import Recogniser
from springback.studio.own_stream.requests import MEMORY_BOUNDS
from springback.studio.own_stream.stream import FASTEST, SLOWEST, OwnStream
from springback.studio.own_stream.taught_things import NAME_MAX, THINGS_MAX


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
