"""Presets as TOML: each comes back as it was; changes, sizes, and what is refused."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from springback.check import DataError
from springback.spiking.params import IntrinsicPlasticity, ShortTermStdp
from springback.spiking.presets import PRESETS, load_preset, preset_text, springback_2026

UNUSUAL = replace(
    springback_2026(n_inputs=12, n_neurons=3),
    name='of "mine" \\ today',
    short_term=ShortTermStdp(
        memory_ms=np.array([100.0, 250.5, 1e-3]), intrinsic=IntrinsicPlasticity(step_mv=0.5), delay_ms=50.0
    ),
)


def written(tmp_path, text):
    path = tmp_path / "my.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("preset", [*(make(n_neurons=77) for make in PRESETS.values()), UNUSUAL])
@pytest.mark.parametrize("based_on", PRESETS)
def test_a_preset_that_is_written_out_comes_back_as_it_was(preset, based_on, tmp_path):
    found = load_preset(written(tmp_path, preset_text(preset, based_on=based_on)))
    ours, theirs = asdict(found), asdict(preset)
    np.testing.assert_array_equal(ours["short_term"].pop("memory_ms"), theirs["short_term"].pop("memory_ms"))
    assert ours == theirs


def test_what_a_file_leaves_out_is_that_of_its_preset(tmp_path):
    path = written(tmp_path, 'based_on = "springback-2026"\n[circuit]\nn_neurons = 800\n[streaming]\nintensity = 4\n')
    found = load_preset(path, n_inputs=100, n_neurons=5)
    expected = springback_2026(n_inputs=100, n_neurons=800)  # the file's own size wins, and its thresholds follow
    assert found.circuit == expected.circuit
    assert found.long_term == expected.long_term
    assert found.streaming == replace(expected.streaming, intensity=4.0)
    assert found.name == "springback-2026, changed"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs = 3", "based_on must name a preset: springback-2026"),
        ('based_on = "mine"', "based_on must be one of"),
        ('based_on = "moraitis-2020"\n[circuit]\ndt = 0.5', "circuit must have only the names n_inputs.*got 'dt'"),
        ('based_on = "moraitis-2020"\n[circuit]\ndt_ms = -1', "Circuit.dt_ms must be > 0"),
        ('based_on = "moraitis-2020"\n[circuit]\nn_neurons = 1.5', "circuit.n_neurons must be a whole number"),
        ('based_on = "moraitis-2020"\nshuffled = 1', "shuffled must be true or false; got 1"),
        ('based_on = "moraitis-2020"\n[short_term]\npull = "much"', "pull must be a number; got 'much'"),
        ('based_on = "moraitis-2020"\ncircuit = 3', "circuit must be a table; got 3"),
        ('based_on = "moraitis-2020"\n[short_term]\nmemory_ms = [[1], [1, 2]]', "memory_ms must be a number, or lists"),
        ("based_on =", "is not a TOML file"),
    ],
)
def test_a_file_with_anything_else_is_refused_in_one_sentence(text, message, tmp_path):
    with pytest.raises(DataError, match=message) as refused:
        load_preset(written(tmp_path, text))
    assert "\n" not in str(refused.value)
