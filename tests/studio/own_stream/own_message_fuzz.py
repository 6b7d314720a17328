"""Mutated messages and frames of the page of one's own stream: each is obeyed or refused in one sentence.

`python -m tests.studio.own_stream.own_message_fuzz 1000000` sends a million; the tests send some hundred. A traceback,
a hang, a refusal that is not one of our own sentences, or a number on its way to the page that is not finite is a
failure.
"""

import asyncio
import faulthandler
import json
import random
import sys
import warnings
from collections import Counter

from springback_studio.own_stream.messages import KINDS, MEMORY_BOUNDS
from springback_studio.own_stream.tab import OwnStreamTab
from springback_studio.own_stream.taught_things import THINGS_MAX
from tests.studio.message_fuzz import HANG_S, Inline, Page, mutated

ASKS = ["teach", "taught", "name", "forget", "add", "memory", "restart", "play", "pause", "step", "speed", "seen"]
NAMES = ["cup", "  a  b ", "x" * 24, "é" * 24, "\U0001f600", "", "x" * 25, "a\nb", "\x00", "\u202e"]


def sound(rng: random.Random) -> str:
    """A message that a page might send."""
    ask = "open" if rng.random() < 0.02 else rng.choice(ASKS)
    thing = rng.randrange(THINGS_MAX)
    values = {
        "open": {"kind": rng.choice(KINDS)},
        "teach": {"thing": thing},
        "name": {"thing": thing, "name": rng.choice(NAMES)},
        "forget": {"thing": thing},
        "memory": {"frames": rng.uniform(*MEMORY_BOUNDS)},
        "speed": {"speed": rng.randint(1, 60)},
        "seen": {"frame": rng.randrange(100)},
    }.get(ask, {})
    return json.dumps({"ask": ask, **values})


def message(rng: random.Random, frame_bytes: int) -> str | bytes:
    """One case."""
    kind = rng.random()
    if kind < 0.25:
        frame = rng.choice([rng.randbytes(frame_bytes), bytes(frame_bytes), b"\xff" * frame_bytes])
        return frame if rng.random() < 0.8 else frame[: rng.randrange(frame_bytes + 1)]
    text = sound(rng)
    return text if kind < 0.6 else mutated(rng, text)


async def attack(cases: int, seed: int, progress=lambda _: None) -> Counter[str]:
    """Send that many messages to one tab; what came back, by kind."""
    rng, page = random.Random(seed), Page()
    live = OwnStreamTab(page.hear, page.look, Inline(), None, None)
    await live.greet()
    await live.hear(json.dumps({"ask": "open", "kind": "camera"}))
    for case in range(cases):
        live._bucket._left = live._bucket._burst  # a patient page: the limit of frames has a test of its own
        data = message(rng, live.recogniser.frame_bytes)
        page.refused.clear()
        try:
            await live.hear(data)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {data[:200]!r}") from error
        assert len(page.refused) <= 1
        for why in page.refused:
            assert " must " in why, f"case {case} of seed {seed}: {data[:200]!r} was refused with {why!r}"
            assert "\n" not in why
        progress(case)
    return page.heard


def main(cases: int, seed: int = 0) -> Counter[str]:
    """The campaign: stops at the first failure, and after five minutes without progress with a stack dump."""
    warnings.simplefilter("error")

    def progress(case: int) -> None:
        if case % 1000 == 0:
            faulthandler.dump_traceback_later(HANG_S, exit=True)

    try:
        return asyncio.run(attack(cases, seed, progress))
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    print(dict(main(int(sys.argv[1]), *map(int, sys.argv[2:]))))
