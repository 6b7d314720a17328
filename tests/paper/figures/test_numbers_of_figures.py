"""The CSV file of every figure, from a quick look at each."""

import csv
import io
from functools import cache

import numpy as np
import pytest

from springback_paper.figures.exhibit import exhibits
from springback_paper.figures.table import csv_text
from springback_paper.models import MODELS
from springback_paper.run_scope import Scope
from tests.paper.figures.small_circuit import small_model
from tests.paper.figures.test_fig_4 import made_up

QUICK = Scope(limit=100, neurons=40)
BY_NAME = {one.name: one for one in exhibits()}


@cache
def quick_result(name):
    """The result of a figure in a quick look, with a small circuit as the trained network."""
    if BY_NAME[name].run is None:
        return {**made_up(MODELS, paper=["spiking_static"]), "seeds": [0, 1, 2]}
    task = BY_NAME[name].task(QUICK)
    if set(task.needs) - {"model"}:
        pytest.skip(f"{name} needs more than the spiking network")
    return task.compute({"model": small_model()} if task.needs else {})


def numbers(name, **where):
    """The columns of the CSV file of a figure in the rows where other columns have the given values."""
    rows = list(csv.DictReader(io.StringIO(csv_text(BY_NAME[name].table(quick_result(name))))))
    rows = [row for row in rows if all(row[column] == value for column, value in where.items())]
    return lambda column, dtype=np.float64: np.array([row[column] for row in rows], dtype)


def drawn(name):
    return BY_NAME[name].draw(quick_result(name))


@pytest.mark.parametrize("name", BY_NAME)
def test_every_figure_has_rows_of_numbers_with_a_header_and_always_the_same_bytes(name):
    exhibit, result = BY_NAME[name], quick_result(name)
    text = csv_text(exhibit.table(result))
    header, *rows = csv.reader(io.StringIO(text))
    assert len(rows) > 0
    assert all(header)
    assert len(set(header)) == len(header)
    assert {len(row) for row in rows} == {len(header)}
    empty = {column for at, column in enumerate(header) if {row[at] for row in rows} == {""}}
    assert all(column.endswith(("_std", "_standard_error")) for column in empty), "only a deviation may need more seeds"
    assert text == csv_text(exhibit.table(result))
    assert exhibit.caption(result)


@pytest.mark.parametrize("name", ["fig_1", "fig_2a"])
def test_a_second_run_with_the_same_seed_writes_the_same_bytes(name):
    again = BY_NAME[name].task(QUICK).compute({})
    assert csv_text(BY_NAME[name].table(again)) == csv_text(BY_NAME[name].table(quick_result(name)))


def test_the_window_is_drawn_at_the_numbers_of_its_file():
    window, relaxation = drawn("fig_2b").axes
    for weight in ("0.5", "1.0"):
        column = numbers("fig_2b", panel="window", weight=weight)
        dots = [line for line in window.lines if line.get_marker() == "." and len(line.get_xdata()) > 1]
        assert any(
            np.array_equal(line.get_ydata(), column("change")) and np.array_equal(line.get_xdata(), column("lag_ms"))
            for line in dots
        )
    column = numbers("fig_2b", panel="relaxation")
    after = column("time_ms") >= 0
    assert any(np.array_equal(line.get_ydata(), column("efficacy_in_closed_form")[after]) for line in relaxation.lines)


def test_the_trace_of_a_synapse_is_drawn_at_the_numbers_of_its_file():
    trace = drawn("fig_3e").axes[1]
    column = numbers("fig_3e", panel="short-term part")
    np.testing.assert_array_equal(trace.lines[0].get_xdata(), column("time_ms"))
    np.testing.assert_array_equal(trace.lines[0].get_ydata(), column("short_term", np.float32))


def test_sweeps_are_drawn_at_the_numbers_of_their_file():
    for place, parameter in enumerate(("weight_dependence", "pull", "intensity")):
        column = numbers("parameters", parameter=parameter, frames="noise")
        heights = [tuple(line.get_ydata()) for line in drawn("parameters").axes[place].lines]
        assert tuple(100 * column("accuracy_mean")) in heights


def test_accuracies_by_ink_are_drawn_at_the_numbers_of_their_file():
    column = numbers("fig_4b_ink", model="elastic")
    still = drawn("fig_4b_ink").axes[0]
    assert column("ink_hidden_percent", str)[[0, -2, -1]].tolist() == ["0-10", "90-100", "noise"]
    assert tuple(100 * column("accuracy_mean")[:-1]) in [tuple(line.get_ydata()) for line in still.lines]


def test_the_frames_of_a_video_are_drawn_with_the_pixels_of_their_file():
    for frame, axes in enumerate(drawn("fig_3a").axes[:3]):
        pixels = numbers("fig_3a", frame=str(frame))("brightness_of_255", np.uint8)
        np.testing.assert_array_equal(axes.images[0].get_array(), pixels.reshape(28, 28))


def test_active_neurons_have_one_map_each_in_the_file():
    result = quick_result("fig_3c")
    frame = result.telling[0]
    neuron, resting = result.adapting_neurons[frame, 0], result.adapting_resting[frame, 0]
    weights = numbers("fig_3c", panel="weights", neuron=str(neuron))("weight", np.float32)
    np.testing.assert_array_equal(weights.reshape(resting.shape), resting)
    spikes = numbers("fig_3c", panel="adapting", frame=str(frame))("spikes", np.int64)
    np.testing.assert_array_equal(spikes, result.adapting_spikes[frame])
