"""The compiled kernel against the plain oracle, spike for spike, in every mode."""

from dataclasses import replace

import numpy as np
import pytest

from springback.spiking.params import (
    Circuit,
    ExcitatoryNeuron,
    InhibitoryNeuron,
    IntrinsicPlasticity,
    LongTermStdp,
    ShortTermStdp,
)
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.weights import Weights
from tests.spiking import oracle

N, K, STEPS = 30, 12, 3000
CIRCUIT = Circuit(n_inputs=N, n_neurons=K)
RNG = np.random.default_rng(1234)

SHORT_TERM = {
    "paper": ShortTermStdp(pull=0.1, weight_dependence=-0.1),
    "no weight dependence, capped": ShortTermStdp(pull=0.3, weight_dependence=1.0, efficacy_max=4.0),
    "one time constant per neuron": ShortTermStdp(pull=0.1, memory_ms=RNG.uniform(5, 400, K)),
    "one time constant per synapse": ShortTermStdp(pull=0.1, memory_ms=RNG.uniform(5, 400, (N, K))),
    "very short memory": ShortTermStdp(pull=1.0, weight_dependence=0.5, memory_ms=2.0),
    "excitable somas": ShortTermStdp(pull=0.05, intrinsic=IntrinsicPlasticity(step_mv=0.5, tau_ms=50.0, max_mv=3.0)),
    "adapting somas": ShortTermStdp(pull=0.1, intrinsic=IntrinsicPlasticity(step_mv=-0.5, tau_ms=50.0, max_mv=3.0)),
    "delayed pull": ShortTermStdp(pull=0.2, delay_ms=60.0, pause_ms=40.0),
    "delayed pull, adapting somas": ShortTermStdp(
        pull=0.2, delay_ms=60.0, pause_ms=40.0, intrinsic=IntrinsicPlasticity(step_mv=-0.2)
    ),
}
STDP = LongTermStdp(weight_sum=40.0, weight_max=3.0, weight_start_max=2.0, theta_step_mv=0.3, tau_theta_ms=1e4)


def drive(seed, n_steps=STEPS):
    """Weights and input spikes that make a small circuit fire often, with a pause in the middle."""
    rng = np.random.default_rng(seed)
    weights = Weights(rng.uniform(0.0, 2.7, (N, K)), rng.uniform(18.0, 22.0, K))
    n = n_steps // 2
    step = np.sort(rng.integers(0, n_steps, n))
    step = step[(step < 1200) | (step > 1700)]
    return weights, rng.integers(0, N, len(step)).astype(np.int32), step


def pairs(recording):
    return list(zip(recording.out_index.tolist(), recording.out_step.tolist(), strict=True))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_static_run_is_the_oracle_spike_for_spike(seed):
    weights, index, step = drive(seed)
    got = simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT)
    expected, _, _, _, v = oracle.run(CIRCUIT, *weights, index, step, STEPS)
    assert len(expected) > 50
    assert pairs(got) == expected
    np.testing.assert_allclose(got.v_mv, v, atol=1e-9)


@pytest.mark.parametrize("weight_from_inhibitory", [17.0, 0.4])
def test_partners_with_exact_steps_are_the_oracle_spike_for_spike(weight_from_inhibitory):
    weights, index, step = drive(0)
    circuit = replace(
        CIRCUIT, inhibitory=InhibitoryNeuron(exact_step=True), weight_from_inhibitory=weight_from_inhibitory
    )
    got = simulate_spikes(weights, index, step, STEPS, circuit=circuit)
    expected, _, _, _, v = oracle.run(circuit, *weights, index, step, STEPS)
    assert len(expected) > 50
    assert pairs(got) == expected
    assert pairs(got) != pairs(simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT))
    np.testing.assert_allclose(got.v_mv, v, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_long_term_stdp_is_the_oracle_spike_for_spike_and_weight_for_weight(seed):
    weights, index, step = drive(seed)
    got = simulate_spikes(weights, index, step, STEPS, circuit=CIRCUIT, long_term=STDP, normalise_every_steps=1000)
    expected, w, theta, _, _ = oracle.run(CIRCUIT, *weights, index, step, STEPS, stdp=STDP, normalise_every=1000)
    assert len(expected) > 50
    assert pairs(got) == expected
    np.testing.assert_allclose(got.weights.resting, w, atol=1e-12)
    np.testing.assert_allclose(got.weights.theta, theta, atol=1e-10)
    assert np.abs(w - weights.resting * 40 / weights.resting.sum(axis=0)).max() > 0.01


@pytest.mark.parametrize("tau_theta_ms", [20.0, 2.0, 1e-3])
def test_thresholds_that_decay_for_ever_stay_the_oracle_spike_for_spike(tau_theta_ms):
    """Their common scale passes 1e-18 every 41 time constants; never written into them, it would reach zero."""
    weights, index, step = drive(0)
    stdp = replace(STDP, tau_theta_ms=tau_theta_ms)
    circuit = replace(CIRCUIT, excitatory=ExcitatoryNeuron(threshold_offset_mv=-55.0))
    got = simulate_spikes(weights, index, step, STEPS, circuit=circuit, long_term=stdp)
    expected, w, theta, _, _ = oracle.run(circuit, *weights, index, step, STEPS, stdp=stdp)
    assert len(expected) > 50
    assert pairs(got) == expected
    np.testing.assert_allclose(got.weights.resting, w, atol=1e-12)
    np.testing.assert_allclose(got.weights.theta, theta, atol=1e-10)


def test_single_precision_training_goes_on_after_the_scale_of_the_thresholds_has_run_out():
    weights, index, step = drive(0)
    single = Weights(weights.resting.astype(np.float32), weights.theta.astype(np.float32))
    circuit = replace(CIRCUIT, excitatory=ExcitatoryNeuron(threshold_offset_mv=-55.0))
    stdp = replace(STDP, tau_theta_ms=5.0)
    got = simulate_spikes(single, index, step, STEPS, circuit=circuit, long_term=stdp)
    assert np.isfinite(got.weights.theta).all()
    assert (got.out_step > 2500).sum() > 5


@pytest.mark.parametrize("name", SHORT_TERM)
def test_short_term_stdp_is_the_oracle_spike_for_spike(name):
    weights, index, step = drive(3)
    got = simulate_spikes(
        weights,
        index,
        step,
        STEPS,
        circuit=CIRCUIT,
        short_term=SHORT_TERM[name],
        neurons=range(K),
        every_steps=STEPS - 1,
    )
    expected, _, _, f, v = oracle.run(CIRCUIT, *weights, index, step, STEPS, short_term=SHORT_TERM[name])
    assert len(expected) > 50
    assert pairs(got) == expected
    np.testing.assert_allclose(got.v_mv, v, atol=1e-9)
    if name != "one time constant per synapse":  # there the last sample is decayed when it is next read
        np.testing.assert_allclose(got.short_term[-1], f, atol=1e-9)


def test_another_circuit_is_the_oracle_too():
    circuit = Circuit(
        n_inputs=N,
        n_neurons=K,
        dt_ms=0.25,
        excitatory=ExcitatoryNeuron(refractory_ms=0.0, e_excitatory_mv=10.0, tau_membrane_ms=40.0),
        tau_inhibitory_ms=5.0,
        weight_from_inhibitory=0.4,
    )
    weights, index, step = drive(5)
    got = simulate_spikes(weights, index, step, STEPS, circuit=circuit)
    expected, *_ = oracle.run(circuit, *weights, index, step, STEPS)
    assert len(expected) > 100
    assert pairs(got) == expected


def test_spikes_of_several_neurons_in_one_step_are_the_oracle_too():
    weights = Weights(np.full((N, K), 6.0), np.full(K, 20.0))
    index, step = np.arange(N, dtype=np.int32), np.repeat([10, 40, 41], 10)
    got = simulate_spikes(weights, index, step, 400, circuit=CIRCUIT)
    expected, *_ = oracle.run(CIRCUIT, *weights, index, step, 400)
    assert max(np.bincount([t for _, t in expected])) == K
    assert pairs(got) == expected
