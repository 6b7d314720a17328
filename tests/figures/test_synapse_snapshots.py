"""The figure of the snapshots of a neuron."""

import io

import numpy as np

from springback.experiments import synapse_snapshots
from springback.figures.synapse_snapshots import draw_synapse_snapshots
from tests.experiments.small_circuit import PRESET, small_model, small_video


def test_all_snapshots_share_one_scale_and_the_first_is_at_rest():
    result = synapse_snapshots.run(small_model(), PRESET, small_video())
    figure = draw_synapse_snapshots(result)
    n = len(result.telling) + 1
    snapshots = [axes.images[0] for axes in figure.axes[n : 2 * n]]
    np.testing.assert_array_equal(snapshots[0].get_array(), result.efficacy[0])
    np.testing.assert_array_equal(snapshots[4].get_array(), result.efficacy[result.telling[3] + 1])
    assert {one.get_clim() for one in snapshots} == {(0, float(result.efficacy.max()))}
    figure.savefig(io.BytesIO(), format="png")
