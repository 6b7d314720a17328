"""Pictures of a recording read the monitors that they need, each with its own neurons and times."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from springback.spiking import Circuit, Monitor, Recorder, ShortTermStdp, Streaming, Weights, record_stream
from springback.spiking import plots as plot

CIRCUIT = Circuit(n_inputs=64, n_neurons=16)


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(0)
    weights = Weights(rng.uniform(0, 1.5, (64, 16)).astype(np.float32), np.full(16, 20.0, np.float32))
    watched = {
        "v": Monitor("potential_mv", neurons=[2, 7], every_ms=2.0),
        "limit": Monitor("threshold_mv", neurons=[2, 7], every_ms=2.0),
        "stretch": Monitor("F", inputs=[3, 40], neurons=[5], every_ms=10.0),
    }
    how = {"circuit": CIRCUIT, "presentation": Streaming(intensity=4.0), "short_term": ShortTermStdp(pull=0.05)}
    frames = rng.integers(0, 256, (2, 8, 8), dtype=np.uint8)
    return record_stream(weights, frames, **how, recorder=Recorder(watched))


def test_potentials_have_the_thresholds_that_were_sampled_with_them(recording):
    axes = plot.potentials(recording, Figure().subplots(), spikes=False)
    lines = {line.get_linestyle(): line for line in axes.lines}
    assert len(axes.lines) == 4
    np.testing.assert_allclose(lines["--"].get_ydata(), recording.samples["limit"].values[:, 1])
    np.testing.assert_allclose(lines["-"].get_xdata(), np.arange(350) * 2.0)


def test_f_is_drawn_at_its_own_times_for_the_inputs_that_were_recorded(recording):
    (line,) = plot.short_term(recording, Figure().subplots(), neuron=5, inputs=[40]).lines
    np.testing.assert_allclose(line.get_xdata(), np.arange(70) * 10.0)
    np.testing.assert_allclose(line.get_ydata(), recording.samples["stretch"].values[:, 1, 0])
    with pytest.raises(ValueError, match="inputs must be among those recorded"):
        plot.short_term(recording, Figure().subplots(), inputs=[41])
