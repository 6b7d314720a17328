"""Circuits as NIR graphs: what is written can be read, and the report says what is lost and how far it drifts."""

import numpy as np
import pytest

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import record_stream
from springback.spiking.composed import (
    AdaptiveLif,
    ComposedCircuit,
    DivisiveInhibition,
    GlobalInhibition,
    Lif,
    PairStdp,
    ShortTermStdp,
    StochasticLif,
    TsodyksMarkram,
    poisson_spikes,
    to_nir,
)
from springback.spiking.composed.nir.linear import drift_between, graph_counts, linearised, lost_parts
from springback.spiking.encoding import spike_train

nir = pytest.importorskip("nir", reason="NIR is not installed")


def simulated(graph, which, first):
    """The output spikes of a graph by plain forward Euler over its nodes, a recurrent edge taking one step."""
    dt = graph.metadata["dt_ms"] * 1e-3
    values = {name: np.zeros(graph.nodes[name].output_type["output"]) for name in graph.nodes}
    state = {name: np.array(node.v_leak) for name, node in graph.nodes.items() if isinstance(node, nir.LIF | nir.LI)}
    order = ["input", "synapses", "neurons", "partners", "to_partner", "recurrent", "excitation", "inhibition"]
    order = [name for name in [*order, "partner_excitation"] if name in graph.nodes]
    fired = []
    for t in range(len(first) - 1):
        for name in order:
            node = graph.nodes[name]
            arriving = sum(values[source] for source, target in graph.edges if target == name)
            if isinstance(node, nir.Input):
                values[name] = np.bincount(which[first[t] : first[t + 1]], minlength=len(values[name])).astype(float)
            elif isinstance(node, nir.Linear):
                values[name] = node.weight @ arriving
            elif isinstance(node, nir.Scale):
                values[name] = node.scale * arriving
            else:
                state[name] = state[name] + dt / node.tau * (node.v_leak - state[name] + node.r * arriving)
                values[name] = state[name]
                if isinstance(node, nir.LIF):
                    values[name] = (state[name] > node.v_threshold).astype(float)
                    state[name] = np.where(values[name] > 0, node.v_reset, state[name])
        fired.append(values["neurons"].copy())
    return np.array(fired)


def test_the_graph_that_is_read_back_fires_as_the_drift_says(tmp_path):
    model = shipped_spiking()
    preset = model.preset
    shown = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term}
    record = record_stream(model.weights, shipped_digits().pixels[[0, 50]], **shown)
    train = spike_train(record.in_index, record.in_step, 1400)
    report = to_nir(model, tmp_path / "network.nir", spikes=train)
    graph = nir.read(report.path)
    assert graph.nodes["synapses"].weight.shape == (400, 784)
    assert ("partners", "recurrent") in graph.edges
    fired = simulated(graph, train.which[: train.first[400]], train.first[:401])
    counts = graph_counts(linearised_of(model), spike_train(record.in_index, record.in_step, 1400), 400)
    assert fired.sum() > 10
    assert counts[0].tolist() == fired.sum(axis=0).astype(int).tolist()
    assert report.drift.circuit_spikes == len(record.out_index)
    assert report.drift.graph_spikes > 20
    static = to_nir(model, tmp_path / "network.nir", spikes=train, adapts=False)
    assert static.drift.graph_spikes == report.drift.graph_spikes
    assert static.drift.correlation > 0.3
    assert "ShortTermStdp is lost: efficacies stay at the resting weights." in report.lost
    assert "drift:" in str(report)


def linearised_of(model):
    from springback.spiking.composed.paper import circuit_of

    return linearised(circuit_of(model, adapts=True), None)


def test_without_conductances_to_lose_nothing_drifts():
    """A reversal potential so far away that the synapse is a current, no refractory period, no inhibition."""
    far = {"e_excitatory_mv": 1e5, "refractory_ms": 0.0, "tau_membrane_ms": 2000.0}
    circuit = ComposedCircuit(np.full((5, 3), [3e-3, 6e-3, 9e-3]), neurons=Lif(**far))
    train = poisson_spikes(np.full(5, 80.0), 1000.0, seed=3)
    ours = circuit.run(train, frame_ms=250.0).counts
    drift = drift_between(ours, graph_counts(linearised(circuit, None), train, 500))
    assert drift.circuit_spikes > 15
    assert abs(drift.graph_spikes - drift.circuit_spikes) <= 2
    assert drift.correlation > 0.98


def test_the_report_names_every_part_that_is_lost(tmp_path):
    weights = np.ones((2, 2))
    said = {
        "Thresholds do not adapt": {"neurons": AdaptiveLif()},
        "fire at their threshold and not at random": {"neurons": StochasticLif()},
        "Divisive inhibition is lost altogether": {"inhibition": DivisiveInhibition()},
        "PairStdp is lost": {"plasticity": PairStdp()},
        "every spike has the efficacy of a first one": {"plasticity": TsodyksMarkram(release=0.25)},
        "ShortTermStdp is lost": {"plasticity": ShortTermStdp()},
    }
    for sentence, how in said.items():
        assert any(sentence in one for one in lost_parts(ComposedCircuit(weights, **how))), sentence
    released = linearised(ComposedCircuit(weights, plasticity=TsodyksMarkram(release=0.25)), None)
    assert released.weights.tolist() == [[0.25, 0.25]] * 2
    report = to_nir(ComposedCircuit(weights, inhibition=GlobalInhibition()), tmp_path / "pool.nir")
    assert report.drift is None
    assert ("neurons", "recurrent") in nir.read(report.path).edges
