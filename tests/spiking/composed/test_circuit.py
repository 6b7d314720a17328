"""Composed circuits: the paper's from parts, layers, operations, states, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import (
    IntrinsicPlasticity,
    Weights,
    count_operations,
    operations,
    record_stream,
    simulate_spikes,
)
from springback.spiking.composed import (
    ComposedCircuit,
    ComposedState,
    GlobalInhibition,
    Layers,
    Lif,
    Normalisation,
    PairStdp,
    ShortTermStdp,
    TripletStdp,
    TsodyksMarkram,
    paper_circuit,
    poisson_spikes,
    spikes_at,
)


@pytest.fixture(scope="module")
def driven():
    """The shipped network at the thresholds of a stream, and three digits as spikes."""
    model, rng = shipped_spiking(), np.random.default_rng(0)
    theta = model.weights.theta.astype(np.float64) + model.preset.streaming.threshold_shift_mv
    pixels = shipped_digits().pixels[[0, 1, 30]].reshape(3, -1)
    fired = rng.random((3, 700, 784)) < pixels[:, None] * 0.125 * 5.0 * 0.5e-3
    step, index = np.nonzero(fired.reshape(2100, 784))
    return model.preset, Weights(model.weights.resting.astype(np.float64), theta), index, step


@pytest.mark.parametrize("mode", ["short_term", "long_term"])
def test_the_papers_circuit_from_parts_fires_as_the_papers_kernel(driven, mode):
    preset, weights, index, step = driven
    by_sum = replace(preset, long_term=replace(preset.long_term, weight_length=None, weight_sum=97.0))
    rules = {mode: getattr(by_sum, mode)}
    normalised = {"normalise_every_steps": 350} if mode == "long_term" else {}
    paper = simulate_spikes(weights, index, step, 2100, circuit=preset.circuit, **rules, **normalised)
    composed = paper_circuit(
        weights, preset.circuit, **rules, normalise_every_ms=175.0 if mode == "long_term" else None
    )
    response = composed.run(spikes_at(index, step * 0.5, 1050.0), frame_ms=350.0)
    got = sorted(zip(response.step.tolist(), response.index.tolist(), strict=True))
    assert len(got) > 100
    assert got == sorted(zip(paper.out_step.tolist(), paper.out_index.tolist(), strict=True))
    np.testing.assert_allclose(response.weights, paper.weights.resting, atol=1e-12)
    np.testing.assert_allclose(response.thresholds_mv, paper.weights.theta, atol=1e-9)
    assert response.counts.sum(axis=1).tolist() == np.bincount(response.step // 700).tolist()
    assert response.operations.input_spikes.tolist() == np.bincount(step // 700).tolist()


def test_operations_are_those_that_can_be_counted_by_hand():
    weights = np.array([[40.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    circuit = ComposedCircuit(
        weights, neurons=Lif(), inhibition=GlobalInhibition(), plasticity=PairStdp(weight_max=100.0)
    )
    response = circuit.run(spikes_at([0, 1, 1, 2], [5.0, 30.0, 60.0, 60.0], 100.0), frame_ms=50.0)
    cost = response.operations
    assert response.counts.tolist() == [[1, 0], [0, 0]]
    assert cost.input_spikes.tolist() == [2, 2]
    # Input 0 has one synapse with a weight, input 1 two, input 2 none; a spike reaches both neurons by the pool.
    assert cost.effective_acs.tolist() == [1 + 2 + 2, 2]
    assert cost.effective_macs.tolist() == [0, 0]
    assert cost.dense.tolist() == [100 * (6 + 4)] * 2
    assert cost.updates.tolist() == [2 + 2 + 3, 4]
    np.testing.assert_allclose(cost.activation_sparsity, [1 - 1 / 200, 1.0])
    assert cost.per_frame()["input_spikes"] == 2


def test_layers_pass_spikes_on_and_continue():
    first = ComposedCircuit(np.full((4, 3), 6.0), neurons=Lif(refractory_ms=2.0))
    second = ComposedCircuit(np.full((3, 2), [20.0, 0.0]), neurons=Lif())
    both = first | second
    assert isinstance(both, Layers)
    assert [one.n_neurons for one in both] == [3, 2]
    train = poisson_spikes(np.full(4, 80.0), 400.0, seed=2)
    responses = both.run(train, frame_ms=100.0)
    alone = second.run(first.run(train).spikes)
    assert responses[1].step.tolist() == alone.step.tolist()
    assert len(alone.step) > 5
    assert responses[1].counts.shape == (4, 2)
    cut = [
        type(train)(train.which[: train.first[300]], train.first[:301]),
        type(train)(train.which[train.first[300] :], train.first[300:] - train.first[300]),
    ]
    one = both.run(cut[0])
    two = both.run(cut[1], states=[layer.state for layer in one])
    assert [*one[1].step, *(two[1].step + 300)] == alone.step.tolist()
    total = responses[0].operations + responses[1].operations
    assert total.dense.tolist() == [200 * (12 + 6)] * 4


def test_a_state_of_another_circuit_or_a_bad_one_is_refused():
    circuit = ComposedCircuit(np.ones((2, 2)))
    other = ComposedCircuit(np.ones((2, 2)), neurons=Lif(), inhibition=GlobalInhibition(), plasticity=PairStdp())
    train = spikes_at([0], [1.0], 5.0)
    with pytest.raises(
        ValueError, match=r"state must have the arrays of this circuit \(activity, ge, inhibition, theta, v, wait"
    ):
        circuit.run(train, state=other.rest())
    with pytest.raises(TypeError, match="state must be a ComposedState"):
        circuit.run(train, state={"v": np.zeros(2)})
    arrays = dict(circuit.rest().arrays)
    with pytest.raises(ValueError, match=r"state\.v must be finite everywhere"):
        circuit.run(train, state=ComposedState({**arrays, "v": np.full(2, np.nan)}))
    with pytest.raises(ValueError, match=r"state\.wait must be >= 0 everywhere; got -1"):
        circuit.run(train, state=ComposedState({**arrays, "wait": np.full(2, -1)}))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"weights": [[1.0, -1.0]]}, "ComposedCircuit.weights must lie within 0 ... 1e"),
        ({"weights": [1.0]}, r"ComposedCircuit.weights must have shape \(n_inputs, n_neurons\); got \(1,\)"),
        ({"neurons": "lif"}, "ComposedCircuit.neurons must be one of Lif; got 'lif'"),
        ({"plasticity": [PairStdp(), TripletStdp()]}, "at most one of PairStdp, TripletStdp; got 'PairStdp, Triplet"),
        ({"plasticity": [TsodyksMarkram(), ShortTermStdp()]}, "at most one of ShortTermStdp, TsodyksMarkram"),
        ({"plasticity": PairStdp(weight_max=0.5)}, "ComposedCircuit.weights must be at most weight_max = 0.5; got 1.0"),
        ({"plasticity": ShortTermStdp(memory_ms=np.ones((2, 3)))}, "springback.spiking takes one per synapse"),
        ({"plasticity": ShortTermStdp(intrinsic=IntrinsicPlasticity())}, "springback.spiking has excitable somas"),
        ({"inhibition": GlobalInhibition(tau_ms=0.1)}, "GlobalInhibition.tau_ms must be >= 0.5; got 0.1"),
        ({"thresholds_mv": np.zeros(5)}, r"ComposedCircuit.thresholds_mv must have shape \(3\); got \(5,\)"),
        ({"dt_ms": 2.0}, "ComposedCircuit.tau_excitatory_ms must be >= 2; got 1.0"),
    ],
)
def test_a_circuit_that_cannot_work_is_refused(how, message):
    given = {"weights": np.ones((2, 3)), **how}
    with pytest.raises((TypeError, ValueError), match=message):
        ComposedCircuit(given.pop("weights"), **given)


def test_bad_input_is_refused_in_one_sentence():
    circuit = ComposedCircuit(np.ones((2, 2)))
    with pytest.raises(TypeError, match="a spike train must be a SpikeTrain; got tuple"):
        circuit.run(([0], [1]))
    with pytest.raises(ValueError, match=r"SpikeTrain\.which must lie within 0 \.\.\. 1; got 7"):
        circuit.run(spikes_at([7], [1.0], 5.0))
    with pytest.raises(ValueError, match="every_ms must come with the neurons to record; got 1"):
        circuit.run(spikes_at([0], [1.0], 5.0), every_ms=1.0)
    with pytest.raises(ValueError, match=r"step must lie within 0 \.\.\. 9"):
        spikes_at([0], [5.0], 5.0)
    with pytest.raises(ValueError, match="inputs of layer 2 must be 2, the neurons of layer 1; got 3"):
        circuit | ComposedCircuit(np.ones((3, 1)))
    with pytest.raises(ValueError, match="rates_hz must be >= 0 and at most one spike per step"):
        poisson_spikes([3000.0], 10.0)


def test_normalised_weights_keep_their_sum_and_learned_circuits_their_weights():
    circuit = ComposedCircuit(
        np.full((20, 2), 0.4),
        inhibition=GlobalInhibition(),
        plasticity=[PairStdp(potentiation=0.05, depression=0.01), Normalisation(weight_sum=9.0, every_ms=50.0)],
    )
    response = circuit.run(poisson_spikes(np.linspace(10, 90, 20), 500.0, seed=0))
    assert len(response.index) > 3
    learned = circuit.learned(response)
    assert learned.weights[-5:].mean() > learned.weights[:5].mean() + 0.05
    still = replace(circuit, plasticity=None, inhibition=None)
    assert still.run(poisson_spikes(np.full(20, 50.0), 100.0)).weights.tolist() == circuit.weights.tolist()


def test_an_empty_train_takes_no_time():
    response = ComposedCircuit(np.ones((1, 1))).run(spikes_at([], [], 0.0))
    assert response.n_steps == 0
    assert response.counts.shape == (0, 1)
    assert response.state.n_steps == 0


def test_the_papers_circuit_costs_the_same_counted_after_a_run_and_inside_a_composed_one():
    model = shipped_spiking()
    preset = model.preset
    frames = shipped_digits().pixels[[0, 0, 40, 40]]
    counted = count_operations(model, frames, seed=4)
    assert counted.updates[0] < counted.updates[1]  # a neuron must be active for longer than a frame
    shown = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term, "seed": 4}
    record = record_stream(model.weights, frames, **shown)
    theta = model.weights.theta + np.float32(preset.streaming.threshold_shift_mv)
    composed = paper_circuit(Weights(model.weights.resting, theta), preset.circuit, short_term=preset.short_term)
    response = composed.run(spikes_at(record.in_index, record.in_step * 0.5, 1400.0), frame_ms=350.0)
    assert response.step.tolist() == record.out_step.tolist()
    for name in ("input_spikes", "output_spikes", "inhibitory_spikes", "effective_acs", "updates", "dense", "places"):
        assert getattr(response.operations, name).tolist() == getattr(counted, name).tolist(), name
    assert counted.inhibitory_spikes.tolist() == counted.output_spikes.tolist()


def test_a_long_stream_is_counted_in_parts_that_follow_each_other(monkeypatch):
    frames = shipped_digits().pixels[[0, 1, 40, 70, 71]]
    whole = count_operations(shipped_spiking(), frames, seed=4)
    monkeypatch.setattr(operations, "_FRAMES_PER_CALL", 2)
    parts = count_operations(shipped_spiking(), frames, seed=4)
    for name in ("input_spikes", "output_spikes", "inhibitory_spikes", "effective_acs", "updates"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist(), name
