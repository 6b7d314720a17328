import asyncio
import os

import pytest

from tests.studio.message_fuzz import attack

CASES = int(os.environ.get("SPRINGBACK_FUZZ_CASES", "1500"))


@pytest.mark.parametrize("seed", [0, 1])
def test_mutated_messages_are_obeyed_or_refused_in_one_sentence(seed):
    heard = asyncio.run(attack(CASES, seed))
    assert heard["refused"] > CASES / 4
    assert heard["stage"] > CASES / 50
    assert heard["picture"] > CASES / 50
