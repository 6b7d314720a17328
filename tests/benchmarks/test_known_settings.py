"""The settings that a search tries first are those that the benchmark picked."""

import json
from pathlib import Path

import pytest

from springback.heads.found import VARIANTS
from springback.heads.known_settings import KNOWN

STORED = Path(__file__).parents[2] / "benchmarks" / "known_settings.json"


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_library_has_what_was_picked(variant):
    picked = json.loads(STORED.read_text())["known"][variant]
    assert len(picked) > 0
    assert list(KNOWN[variant]) == picked
