"""What the benchmark of streams on Spark makes of its measurements; the engine itself is not needed."""

import json

import pytest

pytest.importorskip("psutil")
from springback_bench.place import ROOT
from springback_bench.speed.spark import PAGE, RESULTS, costs, page_of


def test_costs_of_rows_keys_and_batches_are_told_apart():
    sizes = ((10, 10_000), (1_000, 10_000), (1_000, 100_000), (100_000, 100_000))
    spent = [2e-6 * rows + 1e-4 * keys + 0.3 for keys, rows in sizes]
    cells = [
        {"keys": keys, "rows": rows, "cpu_us": [1e6 * seconds / rows]}
        for (keys, rows), seconds in zip(sizes, spent, strict=True)
    ]
    assert costs(cells) == pytest.approx((2e-6, 1e-4, 0.3))
    assert costs(cells[:2]) == (pytest.approx(1e-6 * cells[0]["cpu_us"][0]), 0.0, 0.0)


def test_the_page_has_the_tables_of_the_results():
    assert page_of(json.loads((ROOT / RESULTS).read_text())) in (ROOT / PAGE).read_text()
