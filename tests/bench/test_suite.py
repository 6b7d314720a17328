"""The benchmarks run in parts: what is measured is kept, and the page is written when nothing is missing."""

import json

from springback_bench.speed import suite
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
