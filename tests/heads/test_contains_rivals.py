"""The family of heads contains its strongest rivals: with the right settings, it gives their answers."""

import numpy as np
import pytest
from scipy.special import softmax

from springback.heads import ElasticHead, Observer, Scale, Springs, WindowSprings
from springback_bench.rivals.carry_over import CarryOver
from springback_bench.rivals.class_feedback import ClassFeedback
from springback_bench.rivals.markov_filter import MarkovFilter
from tests.heads.test_elastic_head import BIAS, ROWS, WEIGHT

LOGITS = ROWS @ WEIGHT.T + BIAS


def test_springs_with_a_tuning_curve_and_a_window_of_one_frame_carry_the_last_answer_over():
    rival = CarryOver(WEIGHT, BIAS, strength=4.0, sharpness=2.5)
    springs = WindowSprings(pull=4.0 * np.exp(1 / 3.0), memory=3.0, window=1, tuning=2.5, continuity=0.0)
    head = ElasticHead(WEIGHT, BIAS, springs, scale=Scale(1.0, 1.0))
    assert (rival.track(ROWS).argmax(axis=1) != LOGITS.argmax(axis=1)).any()
    np.testing.assert_allclose(head.track(ROWS), rival.track(ROWS), atol=1e-4)


@pytest.mark.parametrize("windowed", [False, True])
def test_springs_of_a_constant_component_alone_are_class_feedback(windowed):
    rival = ClassFeedback(len(BIAS), pull=1.5, memory=4.0, kappa=0.7)
    settings = {"pull": 1.5, "memory": 4.0, "kappa": 0.7, "continuity": 0.0}
    window = WindowSprings(window=len(ROWS), tuning=0.0, **settings)
    head = ElasticHead(WEIGHT, BIAS, window if windowed else Springs(constant=1.0, **settings))
    np.testing.assert_allclose(head.track(ROWS), rival.track(LOGITS), atol=1e-4)


def test_an_observer_of_one_frame_with_full_evidence_is_a_sticky_markov_filter():
    n_classes, switch_rate, decay = len(BIAS), 0.2, 0.5
    rival = MarkovFilter(n_classes, switch_rate=switch_rate)
    other = switch_rate / (n_classes - 1)
    novelty = decay * n_classes * other / (1 - switch_rate - other)
    settings = Observer(
        kappa=0.0, evidence=1.0, depth=1, memory=-1 / np.log(decay), novelty_odds=novelty, sharpness=6.0, continuity=0.0
    )
    head = ElasticHead(WEIGHT, BIAS, settings, scale=Scale(6.0, 1.0))
    np.testing.assert_allclose(head.track(ROWS[:1])[0], softmax(LOGITS[0]), atol=1e-5)
    np.testing.assert_allclose(head.track(ROWS[:8]), rival.track(LOGITS[:8]), atol=1e-4)
