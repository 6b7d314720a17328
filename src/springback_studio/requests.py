"""The messages that a page may send: a few commands with checked values, and drawings. Others are refused."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback_studio.controls import CONTROL_NAMES, MODELS
from springback_studio.inputs import PAD_SIDE
from springback_studio.view import SOURCES, SPEED_MAX

LONGEST_TEXT = 500
LONGEST_NUMBER = 17
"""The largest number of characters in a whole number; the largest that a page sends, 2^53, has sixteen."""

DRAWING_BYTES = PAD_SIDE * PAD_SIDE
LARGEST_MESSAGE = 4 * DRAWING_BYTES
"""Size limit in bytes; a larger message ends the connection, and a smaller one of the wrong size is refused."""


class Message(NamedTuple):
    """One checked request: its `ask`, and its values by name."""

    ask: str
    values: Mapping[str, Any]


def whole(low: int, high: int) -> Callable[[str, Any], int]:
    """A check that a value is a whole number within bounds."""
    return lambda name, value: check.integer(name, value, low=low, high=high)


def word(choices: tuple[str, ...]) -> Callable[[str, Any], str]:
    """A check that a value is one of a few words."""
    return lambda name, value: check.one_of(name, value, choices)


def _truth(name: str, value: Any) -> bool:
    check.require(isinstance(value, bool), name, "be true or false", value)
    return bool(value)


Asks = dict[str, dict[str, Callable[[str, Any], Any]]]
"""What may be asked, and the check of each value, by name."""

_ASKS: Asks = {
    "model": {"model": word(MODELS)},
    "source": {"source": word(SOURCES)},
    "digit": {"digit": whole(0, 9), "example": whole(0, 9)},
    "occlude": {"rows": whole(0, 28)},
    "noise": {},
    "control": {"name": word(CONTROL_NAMES), "value": check.real},
    "reset": {},
    "restart": {},
    "play": {},
    "pause": {},
    "step": {},
    "speed": {"speed": whole(1, SPEED_MAX)},
    "seen": {"frame": whole(0, 2**53)},
    "command": {},
    "record": {"on": _truth},
}


def parse(text: str, asks: Asks = _ASKS) -> Message:
    """A request from its JSON text; `asks` are those that may be sent.

    Examples
    --------
    >>> parse('{"ask": "occlude", "rows": 12}')
    Message(ask='occlude', values={'rows': 12})
    >>> parse('{"ask": "occlude", "rows": 99}')
    Traceback (most recent call last):
    ValueError: rows must be <= 28; got 99
    """
    check.require(len(text) <= LONGEST_TEXT, "a message", f"have at most {LONGEST_TEXT} characters", len(text))
    try:
        found = json.loads(text, parse_constant=_refuse_constant, parse_int=_short_integer)
    except (ValueError, RecursionError):
        found = None
    must = f"be a JSON object, its whole numbers no longer than {LONGEST_NUMBER} characters"
    check.require(isinstance(found, dict), "a message", must, text[:40])
    ask = check.one_of("ask", found.get("ask"), tuple(asks))
    wanted = asks[ask]
    check.require(set(found) - {"ask"} == set(wanted), f"the values of {ask!r}", f"be {sorted(wanted)}", _names(found))
    return Message(ask, {name: checked(name, found[name]) for name, checked in wanted.items()})


def drawing_of(data: bytes) -> NDArray[np.uint8]:
    """A drawing (112, 112) from its bytes.

    Examples
    --------
    >>> drawing_of(b"too short")
    Traceback (most recent call last):
    ValueError: a drawing must have 12544 bytes; got 9
    """
    check.require(len(data) == DRAWING_BYTES, "a drawing", f"have {DRAWING_BYTES} bytes", len(data))
    return np.frombuffer(data, np.uint8).reshape(PAD_SIDE, PAD_SIDE)


def _names(found: dict[str, Any]) -> list[str]:
    return sorted(name[:20] for name in found if name != "ask")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _short_integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(digits)
    return int(digits)
