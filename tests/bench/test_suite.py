"""The benchmarks run in parts: what is measured is kept, and the page is written when nothing is missing."""

import json
from types import SimpleNamespace

import pytest

from springback_bench.speed import kept, suite
from tests.bench.small_results import small_results


def test_a_run_that_was_stopped_measures_only_what_is_missing(monkeypatch, tmp_path, capsys):
    times = dict.fromkeys(("first_s", "first_processor_s", "next_s", "next_processor_s"), 1.0)
    parts, measured = {**small_results(), "start": [{"name": "a first fit", **times}]}, []

    def measures(name, part):
        def measure(*_, **__):
            measured.append(part)
            return parts[part]

        monkeypatch.setattr(name, measure)

    monkeypatch.setattr(suite, "the_work", lambda: None)
    monkeypatch.setattr(suite, "save_work", lambda *_: None)
    monkeypatch.setattr(suite, "_told", lambda _, rows: rows)
    at = "springback_bench.speed"
    for part in ("spiking", "growth", "roofline"):
        measures(f"{at}.suite.measure_{part}", part)
    for place, part in (("spiking", "presets"), ("elastic", "elastic"), ("start", "start")):
        measures(f"{at}.{place}.measure_{part}", part)
    monkeypatch.setattr(suite, "measure_ratio", lambda **_: 30.0)
    suite.main(["--out", str(tmp_path), "--parts", "spiking,guard"])
    assert measured == ["spiking"]
    assert "still to be measured before the page can be written: presets, elastic" in capsys.readouterr().err
    assert not (tmp_path / suite.RESULTS).exists()
    suite.main(["--out", str(tmp_path)])
    assert measured == ["spiking", "presets", "elastic", "start", "growth", "roofline"]
    written = json.loads((tmp_path / suite.RESULTS).read_text())
    assert {part: written[part] for part in suite.PARTS} == {part: parts[part] for part in suite.PARTS}
    assert (tmp_path / "docs/benchmarks.md").is_file()
    assert not (tmp_path / suite.KEPT).exists()


def test_pieces_of_a_part_that_was_stopped_stay_and_its_seconds_count_once(tmp_path, monkeypatch):
    clock, ran = [0.0], []
    monkeypatch.setattr(kept, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def piece(name):
        ran.append(name)
        clock[0] += 10.0
        if ran == ["early", "late"]:
            raise KeyboardInterrupt
        return name.upper()

    def part(found):
        return [found.once(name, lambda name=name: piece(name)) for name in ("early", "late")]

    file, about = tmp_path / "kept.json", {"date": "today"}
    first = kept.Kept(file, about)
    with pytest.raises(KeyboardInterrupt):
        first.once("part", lambda: part(first))
    again = kept.Kept(file, about)
    assert again.once("part", lambda: part(again)) == ["EARLY", "LATE"]
    assert ran == ["early", "late", "late"]
    assert again.total("seconds") == 20.0
    assert "early" not in kept.Kept(file, {"date": "tomorrow"})
