import asyncio
import os

import pytest

from tests.studio.message_fuzz import attack, decode

CASES = int(os.environ.get("SPRINGBACK_FUZZ_CASES", "1500"))


def test_mutated_messages_are_decoded_or_refused_in_one_sentence():
    ends = decode(3 * CASES, seed=2)
    assert min(ends["understood"], ends["not understood"]) > CASES / 10


@pytest.mark.parametrize("seed", [0, 1])
def test_mutated_messages_are_obeyed_or_refused_in_one_sentence(seed):
    heard = asyncio.run(attack(CASES, seed))
    assert heard["refused"] > CASES / 4
    assert heard["stage"] > CASES / 50
    assert heard["picture"] > CASES / 50
