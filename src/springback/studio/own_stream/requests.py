"""The messages that the page of the user's own stream may send; frames are bytes of exactly the size asked for."""

import unicodedata
from typing import Any

from springback import check
from springback.studio.own_stream.taught_things import NAME_MAX, THINGS_MAX
from springback.studio.requests import Asks, Message, parse, whole, word
from springback.studio.view import SPEED_MAX

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
