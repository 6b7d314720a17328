"""One synapse over time, against its own spikes in plain NumPy."""

import io

import numpy as np
import pytest

from springback_paper.figures import fig_3e as synapse_trace
from springback_paper.figures.fig_3e import draw as draw_synapse_trace
from tests.paper.figures.small_circuit import PRESET, small_model, small_video


@pytest.fixture(scope="module")
def result():
    return synapse_trace.run(small_model(), small_video())


def test_the_short_term_part_follows_from_the_spikes_alone(result):
    rule = PRESET.short_term
    gain = rule.pull * max(0.0, rule.weight_dependence + (1 - rule.weight_dependence) * result.resting)
    inputs, outputs = set((result.input_ms / 0.5).astype(int)), set((result.output_ms / 0.5).astype(int))
    trace, short, expected, began, fired = 0.0, 0.0, [], -np.inf, -np.inf
    for step in range(len(result.time_ms)):
        trace *= np.exp(-0.5 / rule.tau_trace_ms)
        short *= np.exp(-0.5 / rule.memory_ms)
        trace += step in inputs
        if step in outputs:
            began = step if (step - fired) * 0.5 > rule.pause_ms else began
            fired = step
            if (step - began) * 0.5 >= rule.delay_ms:
                short = min(short + gain * trace, rule.efficacy_max - result.resting)
        expected.append(short)
    assert max(expected) > 0.1
    np.testing.assert_allclose(result.short_term, expected, rtol=1e-3, atol=1e-5)


def test_input_spikes_cease_when_the_pixel_is_hidden(result):
    hidden_row_frame = result.row // 3 + 1
    assert result.hidden_from_ms == 350.0 * hidden_row_frame
    assert len(result.input_ms) > 0
    assert result.input_ms.max() < result.hidden_from_ms
    assert result.time_ms[-1] == 2 * result.hidden_from_ms - 0.5


def test_the_pixel_is_the_uppermost_bright_one_that_can_be_pulled(result):
    rule = PRESET.short_term
    pulled = (
        rule.weight_dependence
        + (1 - rule.weight_dependence) * small_model().weights.resting[:, result.neuron].reshape(28, 28)
        > 0
    )
    candidates = [
        (row, -int(result.frame[row, column]), column)
        for row in range(28)
        for column in range(28)
        if pulled[row, column] and result.frame[row, column] >= 128
    ]
    row, _, column = min(candidates)
    assert (result.row, result.column) == (row, column)


def test_a_digit_without_a_pixel_that_can_be_pulled_is_refused():
    with pytest.raises(ValueError, match="have a bright pixel whose synapse can be pulled"):
        synapse_trace.uppermost_pixel(np.full((3, 3), 255, np.uint8), np.zeros((3, 3), bool))


def test_every_spike_and_the_whole_trace_are_drawn():
    result = synapse_trace.run(small_model(), small_video())
    figure = draw_synapse_trace(result)
    spikes, trace, digit = figure.axes
    output, inputs = (one.get_positions() for one in spikes.collections)
    np.testing.assert_array_equal(output, result.output_ms)
    np.testing.assert_array_equal(inputs, result.input_ms)
    np.testing.assert_array_equal(trace.lines[0].get_ydata(), result.short_term)
    assert trace.get_xlabel() == "time (ms)"
    assert digit.lines[0].get_xydata().tolist() == [[result.column, result.row]]
    figure.savefig(io.BytesIO(), format="png")
