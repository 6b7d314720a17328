"""The kernel must not become slow unnoticed: its ratio to a fixed NumPy workload stays above half the recorded one."""

import json
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.waits

ROOT = Path(__file__).parents[2]


@pytest.fixture
def measure_ratio(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from springback_bench.speed.guard import measure_ratio

    return measure_ratio


def test_the_kernel_is_not_slower_than_half_of_its_recorded_ratio_to_numpy(measure_ratio):
    recorded = json.loads((ROOT / "docs" / "data" / "speed.json").read_text())["guard"]["ratio"]
    ratio = 0.0
    for _ in range(6):
        ratio = max(ratio, measure_ratio(tries=3))
        if ratio > recorded / 2:
            break
    assert ratio > recorded / 2


def test_a_kernel_three_times_slower_would_be_caught(measure_ratio, monkeypatch):
    guard = sys.modules["springback_bench.speed.guard"]
    recorded = json.loads((ROOT / "docs" / "data" / "speed.json").read_text())["guard"]["ratio"]
    made = guard._kernel_work

    def thrice():
        run = made()
        return lambda: (run(), run(), run())

    monkeypatch.setattr(guard, "_kernel_work", thrice)
    assert measure_ratio(tries=2) < 0.6 * recorded
