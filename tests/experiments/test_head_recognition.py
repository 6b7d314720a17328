"""The rotating head and a single neuron."""

import numpy as np
import pytest

from springback.datasets import render_head
from springback.experiments import head_recognition
from springback.experiments.head_recognition import HeadRecognition


@pytest.fixture(scope="module")
def answers():
    return head_recognition.run(HeadRecognition(n_repeats=3))


def test_the_front_is_recognised_after_the_turn_and_not_alone(answers):
    assert answers.front_recognised == 100.0
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


def test_percent_is_of_the_repeats(answers):
    assert answers.jump_recognised == 100 * sum(one > 0 for one in answers.jump_spikes) / 3


@pytest.mark.parametrize(("name", "value"), [("n_turn", 1), ("profile_spikes", 0.0), ("size", 7), ("n_repeats", 0)])
def test_a_bad_parameter_is_refused(name, value):
    with pytest.raises(ValueError, match=f"HeadRecognition.{name} must be"):
        HeadRecognition(**{name: value})


def test_the_same_seed_gives_the_same_answers():
    small = HeadRecognition(size=16, n_turn=3, n_training=5, n_repeats=2)
    one, two, other = (head_recognition.run(small, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.efficacy, two.efficacy)
    assert not np.array_equal(one.efficacy, other.efficacy)
