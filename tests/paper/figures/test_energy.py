"""What a frame costs, against the responses of the same network."""

import numpy as np

from springback.spiking import count_operations
from springback_paper.figures import energy
from springback_paper.figures.example_digit import spikes_to
from tests.paper.figures.small_circuit import small_model, small_video


def test_the_counts_are_those_of_the_frames_of_each_group():
    model, video = small_model(), small_video()
    result = energy.run(model, video, n_frames=60)
    shown = video.stretch(0, 60)
    counts = spikes_to(model, shown.frames).sum(axis=1)
    place = energy.COUNTED.index("output_spikes")
    for at, group in enumerate(result.groups):
        mine = shown.rows_hidden == (-1 if group == "noise" else int(group))
        assert result.n_frames[at] == mine.sum()
        assert result.values[1, at, place] == counts[mine].mean()
    assert sum(result.n_frames) == 60
    assert result.groups[-1] == "noise"
    updates = result.values[:, :, energy.COUNTED.index("updates")]
    assert (updates[0] == 0).all()
    pulled = count_operations(model, shown.frames).updates
    hidden = [-1 if group == "noise" else int(group) for group in result.groups]
    np.testing.assert_allclose(updates[1], [pulled[shown.rows_hidden == rows].mean() for rows in hidden])
    assert (updates[1] <= 784 * result.values[1, :, place]).all()
    assert updates[1].max() > 0
    assert len(energy.draw(result).axes) == 2
    assert "accumulates" in energy.EXHIBIT.caption(result)
