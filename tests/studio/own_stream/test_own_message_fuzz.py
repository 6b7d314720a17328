import asyncio
import os

from tests.studio.own_stream.own_message_fuzz import attack

CASES = int(os.environ.get("SPRINGBACK_FUZZ_CASES", "1500"))


def test_mutated_messages_and_frames_are_obeyed_or_refused_in_one_sentence():
    heard = asyncio.run(attack(CASES, seed=0))
    assert heard["refused"] > CASES / 5
    assert heard["answer"] > CASES / 20
    assert heard["things"] > CASES / 20
