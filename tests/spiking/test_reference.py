"""The kernel against an independent simulator (Brian2), spike for spike, driven by the same input spikes."""

from pathlib import Path

import numpy as np
import pytest

from springback.spiking.params import Circuit, LongTermStdp, ShortTermStdp
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.weights import Weights

CIRCUIT = Circuit()


@pytest.fixture(scope="module")
def reference():
    with np.load(Path(__file__).parents[1] / "data" / "reference.npz") as file:
        return dict(file)


def trained(reference, dtype):
    resting = np.zeros((784, 400), dtype)
    resting[reference["rows"]] = reference["weights"]
    return Weights(resting, reference["theta_mv"].astype(dtype))


def assert_same_spikes(run, reference, prefix):
    assert len(run.out_index) > 50
    got = sorted(zip(run.out_step.tolist(), run.out_index.tolist(), strict=True))
    expected = sorted(
        zip(reference[f"{prefix}_exc_step"].tolist(), reference[f"{prefix}_exc_index"].tolist(), strict=True)
    )
    assert got == expected


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_static_network_fires_as_in_brian2(reference, dtype):
    spikes = reference["static_input_index"], reference["static_input_step"]
    run = simulate_spikes(trained(reference, dtype), *spikes, 6000, circuit=CIRCUIT)
    assert_same_spikes(run, reference, "static")
    np.testing.assert_allclose(run.v_mv, reference["static_v_final_mv"], atol=1e-9 if dtype == "float64" else 1e-3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_long_term_stdp_fires_and_learns_as_in_brian2(reference, dtype):
    rng = np.random.default_rng(20210115)
    for _ in range(6):
        rng.random((700, 784))
    start = 0.3 * (rng.random((784, 400)) + 0.01)
    start = (start * (78 / start.sum(axis=0))).astype(np.float32)
    run = simulate_spikes(
        Weights(start.astype(dtype), np.full(400, 20.0, dtype)),
        reference["train_input_index"],
        reference["train_input_step"],
        8000,
        circuit=CIRCUIT,
        long_term=LongTermStdp(),
        normalise_every_steps=1000,
    )
    assert_same_spikes(run, reference, "train")
    learned = run.weights.resting[:, reference["train_fired"]]
    np.testing.assert_allclose(learned, reference["train_weights_final"], atol=2e-7)
    assert np.abs(learned - start[:, reference["train_fired"]]).max() > 0.01
    np.testing.assert_allclose(run.weights.theta, reference["train_theta_final_mv"], atol=1e-5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_short_term_stdp_fires_and_stretches_as_in_brian2(reference, dtype):
    run = simulate_spikes(
        trained(reference, dtype),
        reference["short_term_input_index"],
        reference["short_term_input_step"],
        7000,
        circuit=CIRCUIT,
        short_term=ShortTermStdp(pull=0.7, weight_dependence=-0.3, memory_ms=300.0, tau_trace_ms=20.0),
        neurons=reference["short_term_active"].tolist(),
        every_steps=1,
    )
    assert_same_spikes(run, reference, "short_term")
    after_frame = run.short_term[699::700][:, reference["rows"]] * np.exp(-0.5 / 300.0)
    np.testing.assert_allclose(after_frame, reference["short_term_after_frame"], rtol=1e-5, atol=1e-4)
    assert after_frame.max() > 10
