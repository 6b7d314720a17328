"""Pictures: Axes in, Axes out, with what was recorded on them; pyplot is touched only without Axes."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from springback.data.pretrained import shipped_digits, shipped_spiking
from springback.spiking import plots as plot
from springback.spiking import record_stream
from springback.spiking.composed import ComposedCircuit, Lif, PairStdp, ShortTermStdp, TsodyksMarkram, spikes_at


@pytest.fixture
def axes():
    return Figure().subplots()


@pytest.fixture(scope="module")
def recording():
    model = shipped_spiking()
    preset = model.preset
    how = {"circuit": preset.circuit, "presentation": preset.streaming, "short_term": preset.short_term}
    frames = np.repeat(shipped_digits().pixels[:1], 2, axis=0)  # the pull begins in the second frame
    winner = int(np.bincount(record_stream(model.weights, frames, **how).out_index).argmax())
    return record_stream(model.weights, frames, **how, neurons=[winner, 0], every_steps=20)


@pytest.fixture(scope="module")
def response():
    circuit = ComposedCircuit(np.array([[60.0, 0.0]]), neurons=Lif(), thresholds_mv=np.array([0.0, 5.0]))
    return circuit.run(spikes_at([0, 0], [10.0, 40.0], 100.0), neurons=[0, 1])


def test_a_raster_has_a_mark_for_every_spike(axes, recording, response):
    assert plot.raster(recording, axes) is axes
    assert axes.lines[0].get_xdata().tolist() == (recording.out_step * 0.5).tolist()
    assert axes.lines[0].get_ydata().tolist() == recording.out_index.tolist()
    one = plot.raster(response, Figure().subplots(), color="red")
    assert one.lines[0].get_xdata().tolist() == response.time_ms.tolist()
    assert one.get_xlim() == (0.0, 100.0)
    assert one.lines[0].get_color() == "red"


def test_a_raster_of_one_neuron_has_one_tick(axes):
    plot.raster(([3, 3], [10.0, 20.0]), axes)
    low, high = axes.get_ylim()
    assert [float(tick) for tick in axes.get_yticks() if low <= tick <= high] == [3.0]


def test_a_raster_of_chosen_neurons_shows_these_alone_from_below(axes):
    plot.raster(([7, 3, 9, 7], [1.0, 2.0, 3.0, 4.0]), axes, neurons=[9, 7])
    assert axes.lines[0].get_ydata().tolist() == [1, 0, 1]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["9", "7"]


def test_potentials_come_with_thresholds_and_spikes(axes, response, recording):
    plot.potentials(response, axes)
    potential, threshold, spikes, _, other, _ = axes.lines
    assert potential.get_ydata().tolist() == response.sampled.potential_mv[:, 0].tolist()
    assert set(threshold.get_ydata()) == {-52.0}
    assert set(other.get_ydata()) == {-47.0}
    assert spikes.get_xdata().tolist() == response.time_ms.tolist()
    assert len(plot.potentials(recording, Figure().subplots(), spikes=False).lines) == 2
    given = plot.potentials(recording, Figure().subplots(), thresholds_mv=[-50.0, -48.0], spikes=False)
    assert set(given.lines[3].get_ydata()) == {-48.0}


def test_short_term_parts_are_those_of_the_neuron(axes, recording):
    plot.short_term(recording, axes)
    pulled = recording.short_term[:, :, 0].any(axis=0)
    assert len(axes.lines) == pulled.sum() > 20
    assert len(plot.short_term(recording, Figure().subplots(), neuron=0).lines) < len(axes.lines)
    with pytest.raises(ValueError, match="neuron must be one of those recorded"):
        plot.short_term(recording, axes, neuron=399)


def test_f_of_a_composed_circuit_is_sampled_and_drawn(axes):
    rule = ShortTermStdp(pull=0.5, weight_dependence=1.0, tau_trace_ms=50.0, memory_ms=300.0)
    circuit = ComposedCircuit(np.array([[60.0], [0.5]]), neurons=Lif(), plasticity=rule)
    response = circuit.run(spikes_at([1, 0], [5.0, 10.0], 100.0), neurons=[0], every_ms=10.0)
    assert response.sampled.short_term.shape == (10, 2, 1)
    fired_ms = response.time_ms[0]
    pulled = 0.5 * np.exp(-(fired_ms - 5.0) / 50.0)  # by what its trace had left when the neuron fired
    since_ms = response.sampled.time_ms - fired_ms
    expected = np.where(since_ms > 0, pulled * np.exp(-since_ms / 300.0), 0.0)
    np.testing.assert_allclose(response.sampled.short_term[:, 1, 0], expected, rtol=1e-9)
    (line,) = plot.short_term(response, axes, inputs=[1]).lines
    assert line.get_ydata().tolist() == response.sampled.short_term[:, 1, 0].tolist()
    without = ComposedCircuit(np.ones((1, 1))).run(spikes_at([], [], 5.0), neurons=[0])
    with pytest.raises(ValueError, match="record must have short-term STDP and sampled neurons"):
        plot.short_term(without, axes)


def test_receptive_fields_are_the_weights(axes):
    weights = np.random.default_rng(0).random((12, 5))
    plot.receptive_fields(weights, axes, neurons=[4, 0, 2], shape=(3, 4))
    picture = axes.images[0].get_array()
    assert picture.shape == (8, 10)
    np.testing.assert_array_equal(picture[:3, :4], weights[:, 4].reshape(3, 4))
    np.testing.assert_array_equal(picture[5:, :4], weights[:, 2].reshape(3, 4))
    assert picture.mask[5:, 6:].all()
    with pytest.raises(ValueError, match=r"shape must give .* 12 inputs .*; got 'none, and 12 is not a square number'"):
        plot.receptive_fields(weights, axes)


def test_measured_windows_are_those_of_the_rules(axes):
    pair = plot.measure_stdp_window(PairStdp(potentiation=0.02, depression=0.03, tau_pre_ms=15.0), longest_ms=40.0)
    after = pair.lag_ms >= 0
    np.testing.assert_allclose(pair.change[after], 0.02 * np.exp(-pair.lag_ms[after] / 15.0), rtol=1e-9)
    np.testing.assert_allclose(pair.change[~after], -0.03 * np.exp(pair.lag_ms[~after] / 20.0), rtol=1e-9)
    rule = ShortTermStdp(pull=0.5, weight_dependence=1.0, tau_trace_ms=10.0, memory_ms=200.0)
    brief = plot.measure_stdp_window(rule, longest_ms=40.0)
    expected = np.where(after, 0.5 * np.exp(-brief.lag_ms / 10.0), 0.0)
    np.testing.assert_allclose(brief.change, expected, rtol=1e-9)
    plot.stdp_window(pair, axes)
    assert [len(line.get_xdata()) for line in axes.lines[1:]] == [80, 81]


def test_pyplot_is_touched_only_without_axes(response):
    mpl.use("agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    plot.raster(response, Figure().subplots())
    assert plt.get_fignums() == []
    new = plot.raster(response)
    assert isinstance(new, Axes)
    assert plt.get_fignums() == [new.figure.number]
    plt.close("all")


def test_what_cannot_be_drawn_is_refused(axes):
    with pytest.raises(TypeError, match="record must be a CircuitResponse, a Recording or"):
        plot.raster([1, 2, 3], axes)
    with pytest.raises(TypeError, match="axes must be matplotlib Axes or None; got Figure"):
        plot.raster(([1], [2.0]), Figure())
    with pytest.raises(TypeError, match=r"rule must be PairStdp, .*; got TsodyksMarkram"):
        plot.stdp_window(TsodyksMarkram(), axes)
    quiet = ComposedCircuit(np.ones((1, 1)))
    with pytest.raises(ValueError, match="record must have sampled neurons"):
        plot.potentials(quiet.run(spikes_at([], [], 5.0)), axes)
