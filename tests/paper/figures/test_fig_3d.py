"""The efficacies of one neuron over the frames."""

import io

import numpy as np
import pytest

from springback_paper.figures import fig_3d as synapse_snapshots
from springback_paper.figures.example_digit import choose_example
from springback_paper.figures.fig_3d import draw as draw_synapse_snapshots
from tests.paper.figures.small_circuit import PRESET, small_model, small_video


@pytest.fixture(scope="module")
def result():
    return synapse_snapshots.run(small_model(), small_video())


def test_the_neuron_is_the_one_that_fires_most_while_the_digit_is_shown(result):
    example = choose_example(small_model(), small_video())
    totals = example.adapting_counts[result.labels != 10].sum(axis=0)
    assert totals[result.neuron] == totals.max()
    np.testing.assert_array_equal(result.spikes, example.adapting_counts[:, result.neuron])
    assert result.neuron_label == 0


def test_snapshots_are_at_rest_until_the_pull_begins_and_then_stretched(result):
    resting = small_model().weights.resting[:, result.neuron].reshape(28, 28)
    np.testing.assert_array_equal(result.efficacy[0], resting)
    assert result.time_ms[:3].tolist() == [0.0, 350.0, 700.0]
    assert len(result.efficacy) == len(result.frames) + 1
    np.testing.assert_array_equal(result.efficacy[1], resting)  # the pull begins after 398 ms
    assert (result.efficacy[2:].max(axis=(1, 2)) > resting.max()).all()


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
    np.testing.assert_allclose(
        (after / np.maximum(before, 1e-9))[pulled], np.exp(-350 / PRESET.short_term.memory_ms), rtol=1e-3
    )


def test_all_snapshots_share_one_scale_and_the_first_is_at_rest():
    result = synapse_snapshots.run(small_model(), small_video())
    figure = draw_synapse_snapshots(result)
    n = len(result.telling) + 1
    snapshots = [axes.images[0] for axes in figure.axes[n : 2 * n]]
    np.testing.assert_array_equal(snapshots[0].get_array(), result.efficacy[0])
    np.testing.assert_array_equal(snapshots[4].get_array(), result.efficacy[result.telling[3] + 1])
    assert {one.get_clim() for one in snapshots} == {(0, float(result.efficacy.max()))}
    figure.savefig(io.BytesIO(), format="png")
