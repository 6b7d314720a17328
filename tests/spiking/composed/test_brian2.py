"""Circuits as Brian2 scripts: the spikes of Brian2, recorded from these very scripts, are springback's own."""

import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from springback.data.pretrained import shipped_spiking
from springback.spiking.composed import ComposedCircuit, Lif, to_brian2
from springback.spiking.params import Circuit
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.weights import Weights
from springback_bench.speed.brian2_scripts import (
    RECORD,
    TWO_NEURONS,
    circuits,
    digest_of,
    inputs,
    one_spike,
    two_neurons,
)

EXACT = [name for name in circuits() if not name.startswith("stochastic")]


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORD, allow_pickle=False) as file:
        return dict(file)


@pytest.mark.parametrize("name", circuits())
def test_the_record_was_made_by_the_script_as_it_is_written_now(recorded, name, tmp_path):
    files = to_brian2(circuits()[name], tmp_path)
    assert digest_of(files.script) == str(recorded[f"{name}: digest"])
    compile(files.script.read_text(), "network.py", "exec")


@pytest.mark.parametrize("name", EXACT)
def test_brian2_fires_the_same_neurons_in_the_same_steps(recorded, name):
    circuit = circuits()[name]
    response = circuit.run(inputs())
    assert len(response.index) >= 15
    got = sorted(zip(response.step.tolist(), response.index.tolist(), strict=True))
    found = {what: recorded.get(f"{name}: {what}") for what in ("step", "index", "v_mv", "theta_mv", "weights")}
    assert got == list(zip(found["step"].tolist(), found["index"].tolist(), strict=True))
    np.testing.assert_allclose(response.state.arrays["v"], found["v_mv"][0], atol=1e-9)
    np.testing.assert_allclose(response.thresholds_mv, found["theta_mv"][0], atol=1e-9)
    np.testing.assert_allclose(response.weights, found["weights"][0], atol=1e-12)
    short_term = recorded.get(f"{name}: short_term")
    if short_term is not None:
        one_step = np.exp(-circuit.dt_ms / np.asarray(circuit.short_term.memory_ms))
        np.testing.assert_allclose(response.short_term * one_step, short_term[0], rtol=1e-9, atol=1e-12)
        assert short_term.max() > 0.1


def latency_ms(step, potential_mv):
    """From the spike of the first neuron until the second is below rest."""
    assert len(step) == 1
    return 0.5 * (np.flatnonzero(potential_mv < -65.001)[0] - step[0])


def test_inhibition_comes_as_soon_as_in_brian2_with_explicit_euler_steps_only_if_partners_step_exactly(
    recorded, tmp_path
):
    pair = two_neurons(exact_step=False)
    files = to_brian2(pair, tmp_path, method="euler")
    runs = [f"{TWO_NEURONS}, {n_steps} steps" for n_steps in range(1, 9)]
    assert digest_of(files.script) == str(recorded[f"{runs[-1]}: digest"])
    potential_mv = np.array([recorded[f"{one}: v_mv"][0, 1] for one in runs])
    theirs = latency_ms(recorded[f"{runs[-1]}: step"], potential_mv)
    ours = {}
    for exact in (False, True):
        response = two_neurons(exact_step=exact).run(one_spike(), neurons=[1])
        ours[exact] = latency_ms(response.step, response.sampled.potential_mv[:, 0])
    assert theirs == ours[True] == 1.0
    assert ours[False] == 1.5


@pytest.mark.parametrize(("exact", "expected"), [(False, 1.5), (True, 1.0)])
def test_the_paper_s_own_kernel_inhibits_after_the_same_time(exact, expected):
    pair = two_neurons(exact_step=exact)
    circuit = Circuit(n_inputs=1, n_neurons=2, inhibitory=pair.inhibition.partner)
    weights = Weights(pair.weights, np.full(2, 20.0))
    run = simulate_spikes(weights, np.array([0]), np.array([0]), 8, circuit=circuit, neurons=[1], every_steps=1)
    assert latency_ms(run.out_step, run.potential_mv[:, 0]) == expected


def test_stochastic_neurons_fire_as_often_as_in_brian2(recorded):
    name = "stochastic, division, release"
    ours = [len(circuits()[name].run(inputs(), seed=seed).index) for seed in range(5)]
    theirs = len(recorded[f"{name}: index"])
    assert theirs > 150
    assert abs(np.mean(ours) - theirs) < 4 * np.sqrt(theirs)


def test_methods_of_brian2_integrate_equations_and_the_implicit_one_has_none(tmp_path):
    circuit = circuits()["adaptive, partners, triplets"]
    own = to_brian2(circuit, tmp_path / "own").script.read_text()
    rk4 = to_brian2(circuit, tmp_path / "rk4", method="rk4").script.read_text()
    assert "run_regularly" in own
    assert "dv/dt" not in own
    assert "run_regularly" not in rk4
    assert rk4.count("dv/dt") == 2
    assert "dtheta/dt = -theta / tau_theta : 1" in rk4
    compile(rk4, "network.py", "exec")
    with pytest.raises(ValueError, match="method must be one of 'implicit', 'rk4'"):
        to_brian2(circuit, tmp_path, method="runge")


def test_a_trained_model_is_written_as_it_follows_a_stream(tmp_path):
    model = shipped_spiking()
    files = to_brian2(model, tmp_path)
    with np.load(files.weights, allow_pickle=False) as file:
        np.testing.assert_array_equal(file["weights"], model.weights.resting)
        shifted = model.weights.theta + model.preset.streaming.threshold_shift_mv
        np.testing.assert_allclose(file["thresholds_mv"], shifted, atol=1e-5)
    assert f'"efficacy_max": {model.preset.short_term.efficacy_max}' in files.script.read_text()
    assert (
        "short_term"
        not in to_brian2(model, tmp_path, adapts=False).script.read_text().split("def build")[1].split("return")[0]
    )
    with pytest.raises(TypeError, match="network must be a ComposedCircuit or a SpikingModel; got Lif"):
        to_brian2(Lif(), tmp_path)


@pytest.mark.waits
@pytest.mark.skipif(find_spec("brian2") is None, reason="Brian2 is not installed here; the recorded run is compared")
def test_brian2_itself_agrees(tmp_path):
    circuit = ComposedCircuit(circuits()[EXACT[0]].weights, neurons=replace(Lif(), refractory_ms=3.0))
    files = to_brian2(circuit, tmp_path, spikes=inputs())
    command = [sys.executable, str(files.script), str(files.spikes), str(tmp_path / "out.npz"), "numpy"]
    subprocess.run(command, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    response = circuit.run(inputs())
    with np.load(tmp_path / "out.npz", allow_pickle=False) as file:
        assert file["step"].tolist() == response.step.tolist()
