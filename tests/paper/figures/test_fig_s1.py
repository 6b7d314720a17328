"""The type of problem: easy while nothing moves, and easy again with the continuity of objects."""

import io

import numpy as np
import pytest

from springback.data import load_mnist
from springback_paper.figures.fig_s1 import Problem, draw, run
from tests.paper.figures.small_circuit import small_video


@pytest.fixture(scope="module")
def result():
    return run(load_mnist("train")[:10], small_video(), Problem(), seed=2)


def test_continuity_in_time_makes_up_for_what_movement_costs(result):
    assert result.training_right.mean() > 0.99
    assert result.testing_right.mean() < 0.93
    assert result.continuous_right.mean() > result.testing_right.mean() + 0.05


def test_objects_are_joined_with_where_they_were_last_seen(result):
    continued = result.parents >= 0
    np.testing.assert_array_equal(result.point_labels[continued], result.point_labels[result.parents[continued]])
    assert len(np.unique(result.parents[continued])) == continued.sum(), "an object is continued from its last place"


def test_lines_join_observations_in_time_and_titles_say_what_was_measured(result):
    figure = draw(result)
    still, moving = figure.axes[-2:]
    lines = [line for line in moving.lines if line.get_marker() == "None" and len(line.get_xdata()) == 2]
    assert len(lines) == (result.parents >= 0).sum()
    assert f"{100 * result.training_right.mean():.1f}" in still.get_title(loc="left")
    assert f"{100 * result.continuous_right.mean():.1f}" in moving.get_title(loc="left")
    figure.savefig(io.BytesIO(), format="png")
