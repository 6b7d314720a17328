"""The figures of the sweeps, the time constant, the mechanisms and the worlds, from made-up results."""

import io

import numpy as np

from springback_paper.figures.mechanisms import REFERENCE, MechanismsResult
from springback_paper.figures.mechanisms import draw as draw_mechanisms
from springback_paper.figures.parameters import ParameterSweepsResult
from springback_paper.figures.parameters import draw as draw_parameter_sweeps
from springback_paper.figures.time_constant import TimeConstantResult
from springback_paper.figures.time_constant import draw as draw_time_constant
from springback_paper.figures.world_dynamics import OBSERVERS, WorldDynamicsResult
from springback_paper.figures.world_dynamics import draw as draw_world_dynamics

GROUPS = ("all", "0", "15", "19", "noise")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.01, 0.99, shape)


def heights(panel, n):
    return [tuple(line.get_ydata()) for line in panel.lines if len(line.get_ydata()) == n]


def test_sweeps_have_a_panel_for_each_parameter_with_the_values_of_the_result():
    result = ParameterSweepsResult(
        parameters=("weight_dependence", "weight_dependence", "weight_dependence", "pull", "pull", "pull", "pull"),
        values=np.array([-1.0, 0.0, 1.0, 0.01, 0.1, 0.2, 0.5]),
        groups=GROUPS,
        mean=numbers(7, 5),
        std=np.full((7, 5), np.nan),
        at_preset={"weight_dependence": -0.4, "pull": 0.1},
        seeds=(0,),
        n_digits=3,
        trained_on="made up",
        labelled_with="made up",
        video_of="made up",
    )
    figure = draw_parameter_sweeps(result)
    first, second = figure.axes
    assert tuple(100 * result.mean[:3, 0]) in heights(first, 3)
    assert tuple(100 * result.mean[3:, 4]) in heights(second, 4)
    figure.savefig(io.BytesIO(), format="png")


def test_the_time_constant_has_a_panel_for_each_model():
    result = TimeConstantResult(
        groups=GROUPS,
        spiking_frames=np.array([0.5, 1.0, 2.0]),
        spiking_mean=numbers(3, 5),
        spiking_std=np.ones((3, 5)),
        spiking_preset_frames=2.0,
        elastic_frames=np.array([0.25, 1.0, 2.0, 4.0]),
        elastic_mean=numbers(4, 5, seed=1),
        elastic_std=np.ones((4, 5)),
        elastic_preset_frames=1.1,
        frame_ms=350.0,
        seeds=(0, 1),
        n_digits=3,
    )
    figure = draw_time_constant(result)
    left, right = figure.axes
    assert tuple(100 * result.spiking_mean[:, 3]) in heights(left, 3)
    assert tuple(100 * result.elastic_mean[:, 4]) in heights(right, 4)
    figure.savefig(io.BytesIO(), format="png")


def test_mechanisms_have_a_row_for_each_variant_and_say_the_accuracy_of_all_frames():
    result = MechanismsResult(
        variants=("static", REFERENCE, "another"),
        groups=GROUPS,
        mean=numbers(3, 5),
        std=np.ones((3, 5)),
        gain=np.zeros((3, 5)),
        gain_error=np.zeros((3, 5)),
        seeds=(0, 1),
        n_digits=3,
        trained_on="made up",
    )
    figure = draw_mechanisms(result)
    first, last = figure.axes[0], figure.axes[-1]
    assert [one.get_text() for one in first.texts] == [f"{100 * value:.1f}" for value in result.mean[:, 0]]
    np.testing.assert_allclose(last.collections[-1].get_offsets()[:, 0], 100 * result.mean[:, 4])
    assert [label.get_text() for label in first.get_yticklabels()] == list(result.variants)
    figure.savefig(io.BytesIO(), format="png")


def test_worlds_have_a_column_for_each_of_the_dynamics():
    columns = {name: numbers(5, 4, seed=seed) for seed, name in enumerate(("gain", "distance", "wrong"))}
    result = WorldDynamicsResult(
        varied=("beta", "beta", "beta", "memory", "memory"),
        values=np.array([0.1, 0.5, 2.0, 1.0, 5.0]),
        observers=OBSERVERS,
        log_likelihood=numbers(5, 4),
        **columns,
        **{f"{name}_error": np.ones((5, 4)) for name in columns},
        expected_wrong=numbers(5, seed=9),
        recursion_error=0.0,
        at_middle={"beta": 0.5, "memory": 5.0},
        n_streams=2,
        n_steps=3,
    )
    figure = draw_world_dynamics(result)
    panels = np.reshape(figure.axes, (3, 2))
    elastic = OBSERVERS.index("elastic")
    for row, name in enumerate(columns):
        drawn = (100 if name == "wrong" else 1) * columns[name][:, elastic]
        assert tuple(drawn[:3]) in heights(panels[row, 0], 3)
        assert tuple(drawn[3:]) in heights(panels[row, 1], 2)
    assert tuple(100 * result.expected_wrong[:3]) in heights(panels[2, 0], 3)
    figure.savefig(io.BytesIO(), format="png")
