"""The rotating head and a single neuron."""

import io

import numpy as np
import pytest

from springback_paper.figures import head as head_recognition
from springback_paper.figures.head import HeadRecognition
from springback_paper.figures.head import draw as draw_head_recognition
from springback_paper.inputs.head import render_head


@pytest.fixture(scope="module")
def answers():
    return head_recognition.run(HeadRecognition(n_repeats=3))


def test_the_front_is_recognised_after_the_turn_and_not_alone(answers):
    assert answers.front_recognised == 1.0
    assert answers.alone_recognised == 0.0
    assert (answers.spikes[:, :9] > 0).all()


def test_without_short_term_plasticity_the_turning_head_is_lost(answers):
    assert (answers.static_spikes[:, 0] > 0).all()
    assert (answers.static_spikes[:, 8] == 0).all()


def test_a_scrambled_front_is_not_recognised_even_after_the_turn(answers):
    assert answers.scrambled_recognised == 0.0


def test_the_neuron_has_learned_the_profile_and_springs_back_to_it(answers):
    def cosine(a, b):
        a, b = a.ravel().astype(float), b.ravel().astype(float)
        return a @ b / np.linalg.norm(a) / np.linalg.norm(b)

    profile, front = render_head(90.0, 40), render_head(0.0, 40)
    assert cosine(answers.resting, profile) > 0.95
    assert cosine(answers.resting, front) < 0.85
    assert cosine(answers.efficacy[8], front) > cosine(answers.resting, front)
    np.testing.assert_allclose(answers.efficacy[-1], answers.resting, atol=0.03)


def test_the_threshold_leaves_the_wanted_spikes_to_the_profile(answers):
    assert abs(answers.static_spikes[:, 0].mean() - 4.0) < 1.5


def test_each_seed_is_another_neuron_and_deviations_are_over_neurons():
    small = HeadRecognition(size=16, n_turn=3, n_training=5, n_repeats=2)
    both = head_recognition.run(small, seeds=(4, 5))
    one, other = (head_recognition.run(small, seeds=(seed,)) for seed in (4, 5))
    np.testing.assert_array_equal(both.spikes, np.concatenate([one.spikes, other.spikes]))
    np.testing.assert_array_equal(both.theta_mv, np.concatenate([one.theta_mv, other.theta_mv]))
    means = both.by_neuron(both.spikes[:, 0])
    np.testing.assert_array_equal(means, [one.spikes[:, 0].mean(), other.spikes[:, 0].mean()])
    bars = draw_head_recognition(both).axes[5].containers
    (segment,) = bars[3][2][0].get_segments()
    np.testing.assert_allclose(segment[:, 1], [means.mean() - means.std(ddof=1), means.mean() + means.std(ddof=1)])


def test_a_share_is_that_of_the_repeats(answers):
    assert answers.jump_recognised == sum(one > 0 for one in answers.jump_spikes) / 3


@pytest.mark.parametrize(("name", "value"), [("n_turn", 1), ("profile_spikes", 0.0), ("size", 7), ("n_repeats", 0)])
def test_a_bad_parameter_is_refused(name, value):
    with pytest.raises(ValueError, match=f"HeadRecognition.{name} must be"):
        HeadRecognition(**{name: value})


def test_the_same_seed_gives_the_same_answers():
    small = HeadRecognition(size=16, n_turn=3, n_training=5, n_repeats=2)
    one, two, other = (head_recognition.run(small, seeds=(seed,)) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.efficacy, two.efficacy)
    assert not np.array_equal(one.efficacy, other.efficacy)


def test_each_view_has_its_picture_its_synapses_and_its_spikes():
    params = head_recognition.HeadRecognition(size=16, n_turn=3, n_training=5, n_repeats=2)
    result = head_recognition.run(params)
    figure = draw_head_recognition(result)
    columns = [figure.axes[3 * one : 3 * one + 3] for one in range(5)]
    titles = [column[0].get_title() for column in columns]
    assert titles == ["alone", "90°", "45°", "0°", "pause"]
    for column, frame in zip(columns[1:], (0, 1, 2, 5), strict=True):
        np.testing.assert_array_equal(column[0].images[0].get_array(), result.frames[frame])
        np.testing.assert_array_equal(column[1].images[0].get_array(), result.efficacy[frame])
        heights = [bar.get_height() for bar in column[2].patches]
        assert heights == [result.static_spikes[:, frame].mean(), result.spikes[:, frame].mean()]
    figure.savefig(io.BytesIO(), format="png")
