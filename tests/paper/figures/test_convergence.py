"""The engine approaches Brian2's own integrators as the time step falls."""

from dataclasses import replace

import numpy as np
import pytest

from springback.files.container import read, write
from springback_paper.figures.convergence import (
    EXPONENTIAL,
    FINEST,
    OURS,
    RK4,
    TrialSpikes,
    brian2_spikes,
    difference,
    draw,
    engine_spikes,
    run,
)
from springback_paper.inputs.brian2_runs import CIRCUIT, NETWORKS, NEURONS, SHORT_TERM, recorded_runs

STEPS_MS = [0.5, 0.25, 0.1, 0.05, 0.01]
BOUNDS_AT_50_US = {
    NEURONS: {"counts": 0.005, "unpaired": 0.02, "first_ms": 0.06},
    CIRCUIT: {"counts": 0.06, "unpaired": 0.25, "first_ms": 0.06},
    SHORT_TERM: {"counts": 0.06, "unpaired": 0.45, "first_ms": 0.08},
}
"""At a step of 0.05 ms, how far the engine may be from Brian2's rk4."""


@pytest.fixture(scope="module")
def result():
    return run()


@pytest.mark.parametrize("network", NETWORKS)
def test_the_engine_and_rk4_approach_each_other_as_the_step_falls(result, network):
    assert result.dt_ms.tolist() == STEPS_MS
    for measure, least in (("counts", 3.0), ("unpaired", 1.5), ("first_ms", 3.0)):
        found = dict(zip(STEPS_MS, result.of(measure, network, OURS, RK4), strict=True))
        assert found[0.5] > least * found[0.05], measure
        assert found[0.05] < BOUNDS_AT_50_US[network][measure], measure
        assert found[0.01] < found[0.05], measure


@pytest.mark.parametrize("measure", ["counts", "unpaired", "first_ms"])
def test_without_inhibition_every_shorter_step_brings_them_closer(result, measure):
    found = result.of(measure, NEURONS, OURS, RK4)
    assert (np.diff(found) < 0).all()
    assert (np.diff(result.of(measure, NEURONS, OURS, FINEST)) < 0).all()


def test_at_the_finest_step_the_circuit_fires_as_in_brian2(result):
    assert result.of("counts", CIRCUIT, OURS, RK4)[-1] < 0.03
    assert result.of("unpaired", CIRCUIT, OURS, RK4)[-1] < 0.05
    assert result.of("first_ms", CIRCUIT, OURS, RK4)[-1] <= 0.01


@pytest.mark.parametrize("network", NETWORKS)
def test_exponential_euler_goes_the_same_way_from_farther_off(result, network):
    ours, theirs = (result.of("first_ms", network, one, FINEST)[:4] for one in (OURS, EXPONENTIAL))
    assert (theirs > 5 * ours).all()
    apart = result.of("first_ms", network, OURS, EXPONENTIAL)[:4]
    assert (np.diff(apart) < 0).all()
    assert apart[0] > 4 * apart[-1]


def test_a_threshold_that_is_a_fifth_of_a_millivolt_off_would_be_noticed():
    runs = recorded_runs()
    theirs = brian2_spikes(runs, NEURONS, RK4, 0.05)
    shifted = replace(runs, theta_mv=runs.theta_mv + 0.2)
    found = difference(engine_spikes(shifted, NEURONS, 0.05), theirs)
    for measure, bound in BOUNDS_AT_50_US[NEURONS].items():
        assert getattr(found, measure) > 2 * bound, measure


def spikes(*found):
    trial, neuron, time = zip(*found, strict=True)
    return TrialSpikes(np.array(trial), np.array(neuron), np.array(time, float))


def test_a_run_does_not_differ_from_itself_and_a_late_spike_is_no_missing_one():
    one = spikes((0, 1, 5.0), (0, 1, 20.0), (2, 0, 7.0))
    assert difference(one, one) == (0.0, 0.0, 0.0)
    late = spikes((0, 1, 6.5), (0, 1, 22.5), (2, 0, 7.0))
    found = difference(one, late)
    assert (found.counts, found.unpaired, found.first_ms) == (0.0, pytest.approx(1 / 3), 0.75)


def test_spikes_of_other_neurons_and_trials_are_no_partners():
    one = spikes((0, 1, 5.0), (1, 3, 5.0))
    assert difference(one, spikes((0, 2, 5.0), (2, 3, 5.0))) == (2.0, 1.0, 0.0)


def test_the_result_survives_the_disk_and_is_drawn(result, tmp_path):
    write(tmp_path / "convergence", "result", result)
    kept = read(tmp_path / "convergence", "result", type(result))
    np.testing.assert_array_equal(kept.counts, result.counts)
    assert kept.comparisons == result.comparisons
    figure = draw(kept)
    assert len(figure.axes) == 9
    assert [len(panel.lines) for panel in figure.axes] == [5] * 9
