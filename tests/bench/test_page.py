"""docs/benchmarks.md is what the results say, and says what is missing."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from springback_bench.machine import OtherWork
from springback_bench.rounding import rounded
from springback_bench.speed.page import page_of, speed_table, with_speeds, write_page
from tests.bench.small_results import small_results, spiking_row

ROOT = Path(__file__).parents[2]


@pytest.fixture
def recorded():
    return json.loads((ROOT / "docs" / "data" / "speed.json").read_text())


def line_of(page, start):
    return next(line for line in page.splitlines() if line.startswith(start))


def test_the_page_and_the_results_agree(recorded):
    assert (ROOT / "docs" / "benchmarks.md").read_text() == page_of(recorded)


def test_the_readme_and_the_results_agree(recorded):
    readme = (ROOT / "README.md").read_text()
    assert speed_table(recorded) in readme
    assert with_speeds(readme, recorded) == readme


def test_every_measured_peer_does_comparable_work(recorded):
    ours = {row["mode"]: row["spikes_per_image"] for row in recorded["spiking"] if row["name"] == "springback"}
    for row in recorded["spiking"]:
        if "spikes_per_image" in row:
            assert 0.5 < row["spikes_per_image"] / ours[row["mode"]] < 2.1, (row["name"], row["mode"])


def test_a_changed_number_changes_the_page():
    changed = small_results()
    changed["spiking"][0]["images_per_s"] = 5000.0
    assert "| springback | 5,000 |" in page_of(changed)
    assert page_of(changed) != page_of(small_results())


def test_a_peer_that_is_not_there_is_reported_absent_with_the_reason():
    found = small_results()
    reason = "ModuleNotFoundError: no module | named <x>"
    found["spiking"].append({"name": "Lost", "mode": "train", "differs": "", "absent": reason})
    page = page_of(found)
    assert "| Lost | absent: ModuleNotFoundError: no module / named (x) |" in page
    assert line_of(page, "| training: times BindsNET").startswith("| training: times BindsNET | not measured |")


@pytest.mark.parametrize(("times", "verdict"), [(69.0, "missed"), (71.0, "met"), (101.0, "aim met")])
def test_the_page_says_whether_a_bar_is_met(times, verdict):
    found = small_results()
    found["spiking"][2] = spiking_row("Brian2, C++ standalone", "train", 1.0, times)
    line = line_of(page_of(found), "| training: times Brian2, C++ standalone |")
    assert line.endswith(f"| {verdict} |")


def test_a_missed_bar_says_what_it_would_take():
    found = small_results()
    found["spiking"].append(spiking_row("Brian2, C++ standalone, step written by hand", "train", 100.0, 40.0))
    page = page_of(found)
    assert line_of(page, "| training: times Brian2, C++ standalone, step").endswith("| 40 | 70 | 100 | missed |")
    assert "take 7,000 images/s" in page
    assert "springback does 4,000." in page


@pytest.mark.parametrize(("cores", "warned"), [(0.1, False), (1.0, True)])
def test_a_busy_machine_is_told(cores, warned):
    found = small_results()
    found["machine"]["cores_busy_elsewhere"] = cores
    assert ("The machine was busy" in page_of(found)) == warned


def test_a_remark_on_how_the_results_came_about_is_told():
    found = small_results()
    found["made"]["remark"] = "One column was measured apart."
    assert "One column was measured apart." in page_of(found)


def test_the_page_says_what_more_cores_would_give_and_what_bounds_large_circuits():
    found = small_results()
    axis = {**found["growth"][0], "per": "a sweep", "mib": [1.0, 1.0]}
    found["growth"].append({**axis, "axis": "cores, a sweep", "value": [1, 2], "seconds": [3.0, 2.0]})
    found["roofline"]["limits"]["memory_read_gb"] = 12.0
    page = page_of(found)
    assert (
        "* a sweep: 1.50 times as fast on two cores as on one; 2.4 times on 8 and 2.8 times on 32 by the model." in page
    )
    assert "With 400 neurons, an image takes 300 us. Its 2,400 input spikes add 0.00 GB of" in page
    assert "this machine reads 12.0 GB/s of such an array" in page


def test_other_work_is_seen():
    script = "print('busy', flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as theirs:
        theirs.stdout.readline()
        others = OtherWork()
        time.sleep(1.0)
        while_it_ran = others.cores()
        theirs.kill()
    assert while_it_ran > 0.2


def test_a_missed_bar_of_elastic_tracking_is_told():
    page = page_of(small_results())
    assert line_of(page, "| elastic tracking: times plain NumPy loop |").endswith("| missed |")
    assert line_of(page, "| elastic tracking: times river KMeans |").endswith("| met |")


def test_page_and_plots_are_written_below_any_folder(tmp_path):
    (tmp_path / "docs").mkdir()
    write_page(small_results(), tmp_path)
    assert (tmp_path / "docs" / "benchmarks.md").read_text() == page_of(small_results())
    for name in ("bench_spiking.png", "bench_growth.png"):
        assert (tmp_path / "docs" / "images" / name).stat().st_size > 3000


def test_results_are_kept_with_four_digits():
    assert rounded({"a": [1234.56, 3], "b": None}) == {"a": [1235.0, 3], "b": None}
