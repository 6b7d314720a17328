"""Spikes and the direction of a head as a stream."""

import io

import numpy as np
import pytest

from springback.check import DataError
from springback_bench.stream_sets.head_direction import frames_of, recording_in


def test_a_frame_counts_the_spikes_of_the_last_steps_and_shows_where_the_head_points_then():
    times = np.arange(0, 2, 0.01)
    turning = (3.0 * times + 6.0) % (2 * np.pi)  # passes north, where radians start again
    spikes = [np.array([0.11, 0.19, 0.2, 0.31]), np.array([])]
    counts, sectors = frames_of(spikes, turning, times)
    assert counts.shape == (len(sectors), 2)
    np.testing.assert_allclose(counts[0] ** 2, [2, 0], atol=1e-6)  # from 0 s up to 0.2 s
    np.testing.assert_allclose(counts[2] ** 2, [3, 0], atol=1e-6)  # from 0.1 s up to 0.3 s
    at = 0.2 + 0.05 * np.arange(len(sectors))
    np.testing.assert_array_equal(sectors, ((3.0 * at + 6.0) % (2 * np.pi) / (2 * np.pi) * 12).astype(int))


def file_with(unit="radian", times=(0.0, 1.0, 2.0)):
    h5py = pytest.importorskip("h5py")
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file["units/spike_times"] = [0.5, 0.7, 0.1]
        file["units/spike_times_index"] = [2, 3]
        file["acquisition/CompassDirection/ry/data"] = np.arange(3.0)
        file["acquisition/CompassDirection/ry/data"].attrs["unit"] = unit
        file["acquisition/CompassDirection/ry/timestamps"] = times
    return content.getvalue()


def test_spikes_are_told_apart_by_neuron():
    spikes, angles, times = recording_in(file_with())
    assert [one.tolist() for one in spikes] == [[0.5, 0.7], [0.1]]
    assert (angles == times).all()


def test_another_file_is_refused_in_one_sentence():
    damaged = (b"", file_with()[:300], file_with(unit="degree"), file_with(times=(0.0, 2.0, 1.0)))
    for content in damaged:
        with pytest.raises(DataError, match="must hold spikes and the direction of the head"):
            recording_in(content)
