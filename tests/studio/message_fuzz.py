"""Mutated messages through the decoding and the session layer: each is obeyed or refused in one sentence.

`python -m tests.studio.message_fuzz 1000000` decodes a million of them and sends every tenth to a live view; the tests
take a few thousand. A traceback, a hang, a refusal that is not one of our own sentences, or a number on its way to the
page that is not finite is a failure.
"""

import asyncio
import faulthandler
import json
import random
import sys
import warnings
from collections import Counter
from concurrent.futures import Executor, Future

import numpy as np

from springback_studio import replies
from springback_studio.controls import CONTROL_NAMES, MODELS, controls_of
from springback_studio.digits_tab import DigitsTab
from springback_studio.requests import DRAWING_BYTES, drawing_of, parse
from springback_studio.view import View

HANG_S = 300
NUMBERS = [
    "-1",
    "0",
    "28",
    "2.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "1e999",
    "NaN",
    "-Infinity",
    "9" * 16,
    "9" * 430,
]
OTHERS = [
    "null",
    "true",
    '""',
    '"\\ud800"',
    '"' + "x" * 460 + '"',
    "[" * 240 + "]" * 240,
    '{"a":' * 60 + "1" + "}" * 60,
]
ASKS = ["source", "digit", "occlude", "noise", "control", "reset", "restart", "play", "pause"]
ASKS += ["step", "speed", "seen", "command", "record"]
PIECES = ['"ask"', ":", ",", "{", "}", '"', "\\", "\\u0000", "e", "-", "9" * 25, "é", "\x00", "\U0001f600"]


class Inline(Executor):
    """Work that is done at once."""

    def submit(self, function, /, *arguments):
        future = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class Page:
    """The other end of a live view: it counts what comes and remembers what was refused."""

    def __init__(self) -> None:
        self.heard: Counter[str] = Counter()
        self.refused: list[str] = []
        self.newest = -1

    async def hear(self, said) -> None:
        json.dumps(said, allow_nan=False).encode()
        self.heard[said["say"]] += 1
        if said["say"] == "refused":
            self.refused.append(said["why"])

    async def look(self, data: bytes) -> None:
        if data[:6] == b"GIF89a":
            self.heard["gif"] += 1
            return
        length = int.from_bytes(data[:4], "little")
        self.newest = json.loads(data[4 : 4 + length], parse_constant=_refuse)["number"]
        self.heard["picture"] += 1


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} went to the page")


def sound(rng: random.Random, model: str) -> str:
    """A message that a page might send."""
    ask = rng.choice(ASKS)
    control = rng.choice(list(controls_of(model).values()))
    share = rng.choice([0.0, 1.0, rng.random()])
    values = {
        "source": {"source": rng.choice(["stream", "digit", "drawing"])},
        "digit": {"digit": rng.randrange(10), "example": rng.randrange(10)},
        "occlude": {"rows": rng.randrange(29)},
        "control": {"name": control.name, "value": control.low + share * (control.high - control.low)},
        "speed": {"speed": rng.randint(1, 60)},
        "seen": {"frame": rng.randrange(100)},
        "record": {"on": rng.random() < 0.1},
    }.get(ask, {})
    if rng.random() < 0.002:
        ask, values = "model", {"model": rng.choice(MODELS)}
    return json.dumps({"ask": ask, **values})


def mutated(rng: random.Random, text: str) -> str:
    """The message with one to three things wrong with it; not always wrong enough to be refused."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(6)
        at = rng.randrange(len(text) + 1)
        if kind == 0:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + rng.randint(1, 9) :]
        elif kind == 2:
            text = text[:at] + chr(rng.choice([0, 9, 34, 44, 48, 57, 92, 125, 127, 160, 0x2028])) + text[at + 1 :]
        elif kind == 3:
            text = text[:at] + sound(rng, "elastic")[rng.randrange(9) :]
        elif kind == 4:
            head, colon, _ = text.rpartition(":")
            text = f"{head}{colon}{rng.choice(NUMBERS + OTHERS)}}}"
        else:
            name = rng.choice(["rows", "value", "name", "ask", "x" * 200, *CONTROL_NAMES])
            text = f"{text[:-1]}, {json.dumps(name)}: {rng.choice(NUMBERS + OTHERS)}}}"
    return text


def message(rng: random.Random, model: str) -> str | bytes:
    """One case."""
    kind = rng.random()
    if kind < 0.02:
        drawing = rng.randbytes(DRAWING_BYTES) if rng.random() < 0.5 else bytes(DRAWING_BYTES)
        return drawing if rng.random() < 0.7 else drawing[: rng.randrange(DRAWING_BYTES)]
    text = sound(rng, model)
    return text if kind < 0.1 else mutated(rng, text)


async def attack(cases: int, seed: int, progress=lambda _: None) -> Counter[str]:
    """Send that many messages to one live view; what came back, by kind."""
    rng, page = random.Random(seed), Page()
    live = DigitsTab(page.hear, page.look, Inline())
    await live.greet(View(model="elastic", source="digit", frames=1))
    for case in range(cases):
        data = message(rng, live.session.view.model)
        page.refused.clear()
        try:
            await live.hear(data)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {data!r}") from error
        for why in page.refused:
            assert " must " in why, f"case {case} of seed {seed}: {data!r} was refused with {why!r}"
            assert "\n" not in why
        assert len(page.refused) <= 1, f"case {case} of seed {seed}: {data!r} was refused {len(page.refused)} times"
        if rng.random() < 0.5:
            await live.hear(json.dumps({"ask": "seen", "frame": max(page.newest, 0)}))
        if case % 20 == 0:
            picture = live.session.advance()
            await page.look(replies.packed(picture, live.session, False, page.newest))
            for values in (picture.resting, picture.short_term, picture.static_resting):
                assert np.isfinite(values).all(), f"after case {case} of seed {seed}"
            progress(case)
    return page.heard


def decode(cases: int, seed: int, progress=lambda _: None) -> Counter[str]:
    """Decode that many messages; how many were understood and how many refused."""
    rng, ends = random.Random(seed), Counter()
    for case in range(cases):
        data = message(rng, rng.choice(MODELS))
        why = ""
        try:
            drawing_of(data) if isinstance(data, bytes) else parse(data)
        except (ValueError, TypeError) as error:
            why = str(error)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {data!r}") from error
        assert not why or " must " in why, f"case {case} of seed {seed}: {data!r} was refused with {why!r}"
        ends["not understood" if why else "understood"] += 1
        progress(case)
    return ends


def main(cases: int, seed: int = 0) -> Counter[str]:
    """The campaign: stops at the first failure, and after five minutes without progress with a stack dump."""
    warnings.simplefilter("error")

    def progress(case: int) -> None:
        if case % 1000 == 0:
            faulthandler.dump_traceback_later(HANG_S, exit=True)

    try:
        return decode(cases, seed, progress) + asyncio.run(attack(cases // 10, seed, progress))
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    print(dict(main(int(sys.argv[1]), *map(int, sys.argv[2:]))))
