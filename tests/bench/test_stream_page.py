"""docs/streams.md is what the results say, and nothing in it is typed by hand."""

import json
import re
from pathlib import Path

import pytest

from springback_bench.comparison.page import page_of, write_page
from springback_bench.comparison.plots import shown_methods
from springback_bench.comparison.verdicts import best_rival, verdicts
from tests.bench.small_streams import about, row, small_results

ROOT = Path(__file__).parents[2]


def section(page, title):
    return page.split(f"## {title}\n")[1].split("\n## ")[0]


def verdict(found, start):
    return next(one for one in verdicts(found) if one.target.startswith(start))


def test_the_page_and_the_results_agree():
    found = json.loads((ROOT / "docs" / "data" / "streams.json").read_text())
    assert (ROOT / "docs" / "streams.md").read_text() == page_of(found)


@pytest.mark.parametrize("value", [0.25, 0.75])
def test_every_score_on_the_page_is_one_of_the_results(value):
    found = small_results()
    for one in found["results"]["pond"].values():
        for score in ("accuracy", "shuffled", "calibration_error", "at_coverage"):
            one[score] = [value, value]
    tables = [line for line in page_of(found).split("## In short")[1].splitlines() if line.startswith("|")]
    shown = {float(number) for line in tables for number in re.findall(r"\d+\.\d+", line)}
    assert shown == {100 * value, 0.0, 2.5}  # 2.5 is the cost per frame


def test_the_best_method_of_a_stream_is_bold():
    page = page_of(small_results({"pond": {"t3a": 0.7}, "sea": {"several": 0.8}}))
    lines = section(page, "All methods").splitlines()
    assert "| T3A | **70.0 ± 0.0** | 50.0 ± 0.0 |" in lines
    assert "| springback | 50.0 ± 0.0 | **80.0 ± 0.0** |" in lines
    assert sum("**" in line for line in lines) == 2


def test_the_spread_is_that_between_splits():
    found = small_results()
    found["results"]["pond"]["t3a"]["accuracy"] = [0.6, 0.8]
    assert "| T3A | **70.0 ± 14.1** |" in page_of(found)
    for one in found["results"]["pond"].values():
        one["accuracy"] = one["accuracy"][:1]
    assert "| T3A | **60.0** |" in page_of(found)


def test_a_loss_is_said_in_words():
    found = small_results({"pond": {"carry-over": 0.62}, "sea": {"several": 0.8}})
    found["results"]["pond"]["several"]["accuracy"] = [0.5, 0.7]
    losses = section(page_of(found), "Where it loses")
    assert "our head is 2.0 points behind *carry-over*\n  (60.0 against 62.0); it is behind in 1 of 2 splits." in losses
    assert "On the others (1 of 2 streams), no other method is better on average." in losses
    assert "On no stream that was measured" in section(page_of(small_results()), "Where it loses")


def test_which_memory_a_stream_wants_is_said_in_words():
    found = small_results({"pond": {"springs": 0.9}, "sea": {"observer": 0.9}, "lake": {"observer": 0.503}})
    wants = section(page_of(found), "Which memory suits which stream")
    assert "* Clearly best with springs: [`pond`](#pond)." in wants
    assert "* Clearly best with observer: [`sea`](#sea)." in wants
    assert "within 0.5 points of the best: [`lake`](#lake)." in wants
    assert "| springs 2 |" in wants


@pytest.mark.parametrize(("ours", "met"), [(0.595, True), (0.594, False)])
def test_at_most_half_a_point_below_the_best_rival(ours, met):
    found = small_results({"pond": {"carry-over": 0.6, "several": ours}})
    assert best_rival(found, "pond") == "carry-over"
    assert verdict(found, "tuned with labels").met == met


@pytest.mark.parametrize(("real", "met"), [(True, True), (False, False)])
def test_five_points_above_on_three_recorded_streams(real, met):
    found = small_results({name: {"several": 0.55} for name in "abc"})
    found["streams"]["c"] = about(real=real)
    judged = verdict(found, "at least 5 points")
    assert judged.met == met
    assert ("`c`" in judged.target) == real


@pytest.mark.parametrize(("ahead_on", "met"), [(1, False), (2, True)])
def test_the_untuned_head_should_beat_tuned_rivals_on_half_of_the_recorded_streams(ahead_on, met):
    found = small_results({name: {"untuned": 0.51} if place < ahead_on else {} for place, name in enumerate("abcd")})
    judged = verdict(found, "untuned, above the best other method")
    assert judged.met == met
    assert f"found: {ahead_on} of 4: `a`" in judged.target


@pytest.mark.parametrize(("untuned", "met"), [(0.495, True), (0.494, False)])
def test_the_untuned_head_is_judged_against_the_frozen_network_everywhere(untuned, met):
    assert verdict(small_results({"hapt": {"untuned": untuned}}), "untuned, at most 0.5 points").met == met


@pytest.mark.parametrize("head", ["untuned", "unlabelled", "several"])
def test_random_order_and_calibration_are_judged_against_the_frozen_network_for_all_our_heads(head):
    found = small_results()
    harmless, trusted = "frames in random order: untuned and tuned", "calibration error"
    assert verdict(found, harmless).met
    assert verdict(found, trusted).met
    found["results"]["pond"][head]["shuffled"] = [0.494, 0.494]
    found["results"]["pond"][head]["calibration_error"] = [0.135, 0.135]
    assert verdict(found, harmless).missed == [("pond", pytest.approx(-0.006))]
    assert verdict(found, trusted).missed == [("pond", pytest.approx(-0.01))]
    assert "[`pond`](#pond) (-0.6)" in page_of(found)


@pytest.mark.parametrize(("shuffled", "met"), [(0.52, True), (0.519, False)])
def test_topics_and_meetings_should_gain_in_random_order(shuffled, met):
    found = small_results({"meeting": {}, "pond": {}})
    found["results"]["meeting"]["several"]["shuffled"] = [shuffled, shuffled]
    assert verdict(found, "frames in random order: tuned with labels").met == met


@pytest.mark.parametrize(("unlabelled", "near"), [(0.58, True), (0.57, False)])
def test_without_labels_is_judged_against_with_labels_and_against_the_frozen_network(unlabelled, near):
    found = small_results({"pond": {"several": 0.6, "unlabelled": unlabelled}})
    assert verdict(found, "tuned without labels, at most 2 points").met == near
    assert verdict(found, "tuned without labels, at most 0.5 points").met
    below = small_results({"pond": {"unlabelled": 0.49}})
    assert not verdict(below, "tuned without labels, at most 0.5 points").met


def test_what_is_missed_stands_on_top():
    met = [one.met for one in verdicts(small_results({"pond": {"untuned": 0.4}}))]
    assert met == sorted(met)
    assert set(met) == {True, False}


def test_results_of_two_runs_give_both_dates():
    found = small_results()
    assert "* springback 0.0, 2026-01-01, 1 min 0 s of work in all, full run" in page_of(found)
    found["made"] = {"date": "2026-01-01", "since": "2025-12-30", "springback": "0.0", "full": True}
    assert "* springback 0.0, 2025-12-30 to 2026-01-01, some streams and methods later" in page_of(found)


def test_a_smaller_run_says_what_is_fewer():
    found = small_results()
    found["scope"] |= {"network_trials": 0, "splits": 1, "trials": 24}
    found["absent"] = {"coil-any": "not measured in this run"}
    page = page_of(found)
    assert "Every method tries 24 settings" in page
    assert "(the first 1)" in page
    assert "**Left out** of this smaller run: NOTE, ROID and TENT" in page
    assert "**Not measured**: `coil-any`." in page
    assert "**Left out**" not in page_of(small_results())


def test_a_failure_is_told():
    found = small_results()
    found["failed"] = {"pond-0.lame": "ValueError: | lost"}
    assert "**Failed**: pond-0.lame (ValueError: / lost)." in page_of(found)


def test_methods_that_were_not_measured_are_left_out_of_the_tables():
    assert "| TENT |" not in page_of(small_results())
    found = small_results()
    found["results"]["pond"]["tent"] = row(0.4)
    assert "| TENT | 40.0 ± 0.0 |" in page_of(found)


def test_the_figure_shows_our_head_and_the_best_rivals(tmp_path):
    found = small_results({"hidden-gap": {"lame": 0.9}, "distractors": {}})
    for stream in found["results"].values():
        for one in stream.values():
            one["by_gap"] = {"3": [0.5, 0.6], "10": [0.4, 0.4], "20": [0.3, 0.3]}
    assert {"several", "untuned", "lame", "static"} <= set(shown_methods(found))
    (tmp_path / "docs").mkdir()
    write_page(found, tmp_path)
    assert (tmp_path / "docs" / "images" / "streams_gaps.png").stat().st_size > 5000
    assert "images/streams_gaps.png" in page_of(found)
    assert "images/streams_gaps.png" not in page_of(small_results())
