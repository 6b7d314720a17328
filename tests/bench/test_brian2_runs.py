"""The recorded runs of Brian2: what the file holds, and that no other file is taken for it."""

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.speed.brian2_runs import HIDDEN_ROWS, MOVING, STILL, drawn, shown
from springback_paper.inputs.brian2_runs import GRID_MS, NETWORKS, NEURONS, SHORT_TERM, recorded_path, recorded_runs


@pytest.fixture(scope="module")
def runs():
    return recorded_runs()


def test_every_network_was_run_with_both_integrators_at_every_step(runs):
    for network in NETWORKS:
        for dt_ms in (0.5, 0.25, 0.1, 0.05):
            for method in ("rk4", "exponential_euler"):
                number = runs.run_of(network, method, dt_ms)
                assert all(len(runs.outputs(number, trial)[0]) > 0 for trial in runs.trials[network])
        assert runs.run_of(network, "rk4", 0.01) is not None
        assert runs.run_of(network, "exponential_euler", 0.01) is None


def test_input_spikes_lie_within_their_trial_and_on_every_grid(runs):
    for network in NETWORKS:
        for trial in runs.trials[network]:
            index, time = runs.inputs(trial)
            assert len(index) > 500
            assert time.min() >= 0
            assert time.max() * GRID_MS < runs.trial_ms[network]
    for dt_ms in set(runs.dt_ms):
        assert GRID_MS / dt_ms == pytest.approx(round(GRID_MS / dt_ms), abs=1e-12)


def test_the_networks_differ_in_what_their_names_say(runs):
    assert [runs.circuit(network, 0.1).weight_from_inhibitory for network in NETWORKS] == [0.0, 17.0, 17.0]
    assert [runs.plasticity(network) is None for network in NETWORKS] == [True, True, False]
    assert runs.circuit(NEURONS, 0.25).dt_ms == 0.25


def test_the_generator_shows_a_digit_that_disappears_and_draws_its_spikes_at_its_rates():
    trials = shown()
    assert [len(trials[trial]) for trial in (*STILL, *MOVING)] == [1] * len(STILL) + [len(HIDDEN_ROWS)] * len(MOVING)
    ink = [int((frame > 0).sum()) for frame in trials[MOVING[0]]]
    assert ink[0] > ink[1] > ink[2] > 0
    spikes = drawn([[np.full((28, 28), 255, np.uint8)], [np.zeros((28, 28), np.uint8)]], seed=0)
    assert (spikes["in_trial"] == 0).all()
    assert len(spikes["in_index"]) == pytest.approx(784 * 0.35 * 255 * 0.125 * 3.5, rel=0.02)


def test_another_file_is_refused(tmp_path):
    changed = bytearray(recorded_path().read_bytes())
    changed[-1] ^= 1
    (tmp_path / "other.safetensors").write_bytes(changed)
    with pytest.raises(DataError, match=r"other\.safetensors is not the file that was shipped"):
        recorded_runs(tmp_path / "other.safetensors")
    with pytest.raises(DataError, match=r"none\.safetensors"):
        recorded_runs(tmp_path / "none.safetensors")


def test_short_term_stdp_of_the_runs_is_capped_and_lasts_longer_than_a_frame(runs):
    plasticity = runs.plasticity(SHORT_TERM)
    assert plasticity.efficacy_max == 4.5
    assert plasticity.memory_ms > 350
