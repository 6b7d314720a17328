"""The figure of one synapse over time."""

import io

import numpy as np

from springback.experiments import synapse_trace
from springback.figures.synapse_trace import draw_synapse_trace
from tests.experiments.small_circuit import PRESET, small_model, small_video


def test_every_spike_and_the_whole_trace_are_drawn():
    result = synapse_trace.run(small_model(), PRESET, small_video())
    figure = draw_synapse_trace(result)
    spikes, trace, digit = figure.axes
    output, inputs = (one.get_positions() for one in spikes.collections)
    np.testing.assert_array_equal(output, result.output_ms)
    np.testing.assert_array_equal(inputs, result.input_ms)
    np.testing.assert_array_equal(trace.lines[0].get_ydata(), result.short_term)
    assert trace.get_xlabel() == "time (ms)"
    assert digit.lines[0].get_xydata().tolist() == [[result.column, result.row]]
    figure.savefig(io.BytesIO(), format="png")
