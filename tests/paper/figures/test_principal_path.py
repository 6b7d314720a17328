"""The path of a neuron on the plane of principal components."""

import io

import numpy as np
import pytest

from springback_paper.figures import principal_path
from springback_paper.figures.principal_path import draw as draw_principal_path
from tests.paper.figures.small_circuit import small_model, small_video


@pytest.fixture(scope="module")
def result():
    return principal_path.run(small_model(), small_video(), every_ms=5.0, n_pause=10)


def test_the_plane_is_that_of_the_largest_eigenvalues_of_the_covariance():
    points = np.random.default_rng(3).normal(size=(40, 6)) * np.array([1.0, 5.0, 0.5, 3.0, 0.1, 0.2])
    centre, plane, explained = principal_path.principal_plane(points)
    values, vectors = np.linalg.eigh(np.cov(points.T))
    np.testing.assert_allclose(centre, points.mean(axis=0))
    np.testing.assert_allclose(np.abs((plane * vectors[:, [-1, -2]]).sum(axis=0)), 1.0, atol=1e-9)
    assert explained == pytest.approx(values[-2:].sum() / values.sum())
    assert ((points[-1] - centre) @ plane > 0).all()


def test_the_neuron_begins_and_ends_at_rest(result):
    far = np.linalg.norm(result.neuron_path - result.resting, axis=1).max()
    assert far > 0.1
    np.testing.assert_allclose(result.neuron_path[0], result.resting, atol=1e-6)
    assert np.linalg.norm(result.neuron_path[-1] - result.resting) < 0.05 * far


def test_the_neuron_is_pulled_towards_the_input_and_relaxes_towards_rest(result):
    assert result.pulled_towards_input > 0.1
    assert result.relaxed_towards_rest > 0.9


def test_the_neuron_ends_the_digit_closer_to_its_last_frames_than_it_rests(result):
    at_the_end = result.neuron_path[result.snapshots[result.n_digit - 1]]
    last = result.input_path[-1]
    assert np.linalg.norm(at_the_end - last) < 0.7 * np.linalg.norm(result.resting - last)


def test_there_is_a_snapshot_at_the_end_of_each_frame(result):
    n_frames = result.n_digit + result.n_noise + 10
    assert result.time_ms[list(result.snapshots)].tolist() == [350.0 * (one + 1) - 5.0 for one in range(n_frames)]
    assert len(result.input_path) == result.n_digit
    assert result.n_noise == 4


def test_the_paths_of_input_and_neuron_are_drawn_whole():
    result = principal_path.run(small_model(), small_video(), every_ms=5.0)
    figure = draw_principal_path(result)
    inputs, pulled, after, snapshots, resting = (line.get_xydata() for line in figure.axes[0].lines)
    np.testing.assert_array_equal(inputs, result.input_path)
    np.testing.assert_array_equal(np.concatenate([pulled, after[1:]]), result.neuron_path)
    assert len(snapshots) == result.n_digit + result.n_noise
    np.testing.assert_array_equal(resting[0], result.resting)
    figure.savefig(io.BytesIO(), format="png")
