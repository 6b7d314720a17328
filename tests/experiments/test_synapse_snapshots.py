"""The efficacies of one neuron over the frames."""

import numpy as np
import pytest

from springback.experiments import active_neurons, synapse_snapshots
from tests.experiments.small_circuit import PRESET, small_model, small_video


@pytest.fixture(scope="module")
def result():
    return synapse_snapshots.run(small_model(), PRESET, small_video())


def test_the_neuron_is_the_one_that_fires_most_while_the_digit_is_shown(result):
    example = active_neurons.choose_example(small_model(), PRESET, small_video())
    totals = example.adapting_counts[result.labels != 10].sum(axis=0)
    assert totals[result.neuron] == totals.max()
    np.testing.assert_array_equal(result.spikes, example.adapting_counts[:, result.neuron])
    assert result.neuron_label == 0


def test_the_first_snapshot_is_at_rest_and_all_others_are_stretched(result):
    resting = small_model().weights.resting[:, result.neuron].reshape(28, 28)
    np.testing.assert_array_equal(result.efficacy[0], resting)
    assert result.time_ms[:3].tolist() == [0.0, 350.0, 700.0]
    assert len(result.efficacy) == len(result.frames) + 1
    assert (result.efficacy[1:].max(axis=(1, 2)) > resting.max()).all()


def test_only_synapses_of_seen_pixels_are_pulled(result):
    never_seen = result.frames[result.labels != 10].max(axis=0) == 0
    silent = result.spikes[result.labels == 10] == 0
    assert silent.all()
    np.testing.assert_array_equal(result.efficacy[-1][never_seen], result.efficacy[0][never_seen])


def test_a_silent_neuron_springs_back_with_its_time_constant(result):
    resting = result.efficacy[0]
    before, after = result.efficacy[-2] - resting, result.efficacy[-1] - resting
    pulled = before > 1e-3
    assert pulled.sum() > 10
    np.testing.assert_allclose((after / np.maximum(before, 1e-9))[pulled], np.exp(-350 / 700), rtol=1e-3)
