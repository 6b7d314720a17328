"""A run that is saved half-way and loaded elsewhere continues to the same spikes; another state is refused."""

from dataclasses import replace

import numpy as np
import pytest

from springback.check import DataError
from springback.spiking import (
    Circuit,
    LongTermStdp,
    ShortTermStdp,
    Streaming,
    Weights,
    init,
    load_run_state,
    save_run_state,
    simulate_spikes,
    track,
)
from tests.files.forging import forge

CIRCUIT = Circuit(n_inputs=20, n_neurons=6)
HALF, WHOLE = 333, 800
PLASTICITY = {
    "none": {},
    "long-term": {"long_term": LongTermStdp(weight_sum=30.0)},
    "short-term": {"short_term": ShortTermStdp(pull=0.5, memory_ms=200.0)},
    "short-term, per synapse": {"short_term": ShortTermStdp(pull=0.5, memory_ms=np.full((20, 6), 150.0))},
}


def drive(dtype):
    rng = np.random.default_rng(3)
    weights = Weights(rng.uniform(0, 9, (20, 6)).astype(dtype), np.full(6, 5.0, dtype))
    return weights, rng.integers(0, 20, 700), np.sort(rng.integers(0, WHOLE, 700))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("plasticity", PLASTICITY.values(), ids=PLASTICITY.keys())
def test_a_run_continues_from_its_file_to_the_same_bits(tmp_path, plasticity, dtype):
    weights, index, step = drive(dtype)
    how = {"circuit": CIRCUIT, **plasticity}
    whole = simulate_spikes(weights, index, step, WHOLE, **how)
    early = step < HALF
    first = simulate_spikes(weights, index[early], step[early], HALF, **how)
    assert (first.state.circuit.place >= 0).any(), "no neuron has fired recently"
    save_run_state(tmp_path / "run", first.weights, first.state, circuit=CIRCUIT)
    weights, state = load_run_state(tmp_path / "run", circuit=CIRCUIT)
    rest = simulate_spikes(weights, index[~early], step[~early] - HALF, WHOLE - HALF, state=state, **how)
    assert len(rest.out_step) > 5
    np.testing.assert_array_equal(np.concatenate([first.out_step, rest.out_step + HALF]), whole.out_step)
    np.testing.assert_array_equal(np.concatenate([first.out_index, rest.out_index]), whole.out_index)
    np.testing.assert_array_equal(rest.weights.resting, whole.weights.resting)
    np.testing.assert_array_equal(rest.v_mv, whole.v_mv)


@pytest.mark.parametrize("short_term", [None, ShortTermStdp(pull=0.5)])
def test_a_stream_continues_from_its_file(tmp_path, short_term):
    weights, _, _ = drive("float32")
    frames = np.random.default_rng(0).integers(0, 256, (9, 20), dtype=np.uint8)
    how = {"circuit": CIRCUIT, "presentation": Streaming(intensity=9.0), "short_term": short_term}
    _, whole = track(weights, init(weights, CIRCUIT, short_term), frames, **how)
    state, before = track(weights, init(weights, CIRCUIT, short_term), frames[:4], **how)
    save_run_state(tmp_path / "stream", weights, state, circuit=CIRCUIT)
    weights, state = load_run_state(tmp_path / "stream", circuit=CIRCUIT)
    _, after = track(weights, state, frames[4:], **how)
    np.testing.assert_array_equal(np.concatenate([before, after]), whole)


@pytest.fixture
def saved(tmp_path):
    weights, index, step = drive("float32")
    run = simulate_spikes(weights, index, step, WHOLE, circuit=CIRCUIT, short_term=ShortTermStdp(pull=0.5))
    save_run_state(tmp_path / "run", run.weights, run.state, circuit=CIRCUIT)
    return tmp_path / "run"


def test_a_state_of_another_circuit_is_refused(saved):
    for other in (replace(CIRCUIT, n_neurons=7), replace(CIRCUIT, dt_ms=0.25)):
        with pytest.raises(DataError, match="state of another circuit; give the circuit with which the run began"):
            load_run_state(saved, circuit=other)


def test_a_run_with_other_plasticity_does_not_take_the_state(saved):
    weights, state = load_run_state(saved, circuit=CIRCUIT)
    with pytest.raises(ValueError, match="state must be that of a run with the same short_term"):
        simulate_spikes(weights, np.array([0]), np.array([0]), 10, circuit=CIRCUIT, state=state)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("circuit.place", lambda a: a + 40),
        ("circuit.common.step", lambda a: a - 2**40),
        ("circuit.v", lambda a: a * np.float32(np.nan)),
        ("short_term.slots.neuron", lambda a: a + 6),
        ("short_term.common.n_slots", lambda a: a + 99),
        ("short_term.stamp", None),
        ("resting", lambda a: a[:5]),
        ("theta", lambda a: a.astype(np.float64)),
        ("circuit.ge", None),
    ],
)
def test_a_state_that_cannot_be_run_is_refused(saved, name, change):
    forge(saved, arrays={f"arrays.{name}": change})
    with pytest.raises(DataError, match="is not a usable state"):
        load_run_state(saved, circuit=CIRCUIT)


def test_a_state_that_is_none_is_not_saved(tmp_path):
    weights, _, _ = drive("float32")
    with pytest.raises(TypeError, match="state must be a RunState; got dict"):
        save_run_state(tmp_path / "run", weights, {}, circuit=CIRCUIT)
