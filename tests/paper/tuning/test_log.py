"""The settings of the presets are those that the stored searches found, to the digits that are written."""

import csv
from pathlib import Path

import pytest

from springback.spiking.presets import PRESETS
from springback_paper.tuning.models import SPACES
from springback_paper.tuning.tuned_file import load_tuned

FOLDER = Path(__file__).parents[3] / "docs" / "data" / "tuning"


@pytest.mark.parametrize("name", ["spiking", "spiking-static", "paper", "paper-static"])
def test_a_preset_has_what_its_search_found(name):
    tuned = load_tuned(FOLDER / f"{name}.json")
    preset = PRESETS[tuned.tuning.starting_preset.name]()
    for parameter, value in tuned.values.items():
        shown = preset.static if name.endswith("static") else preset.streaming
        own = shown if hasattr(shown, parameter) else preset.short_term
        assert getattr(own, parameter) == pytest.approx(value, rel=0.02), parameter
    assert set(tuned.values) == set(SPACES[name])


@pytest.mark.parametrize("name", ["spiking", "spiking-static", "paper", "paper-static"])
def test_every_trial_is_in_the_log(name):
    tuned = load_tuned(FOLDER / f"{name}.json")
    with (FOLDER / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == tuned.n_trials
    best = max(rows, key=lambda row: float(row["accuracy_on_second_video"] or 0))
    assert float(best["accuracy_on_second_video"]) == tuned.accuracy
    assert {key: float(best[key]) for key in tuned.values} == tuned.values
