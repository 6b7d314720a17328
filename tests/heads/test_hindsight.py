"""Answers that wait for later frames, against a plain enumeration of the model that the observer follows."""

from itertools import product

import numpy as np
import pytest

from springback.heads import ElasticHead, ElasticLinearClassifier, LearningObserver, Observer, Scale, Springs

RNG = np.random.default_rng(3)
WEIGHT, BIAS = RNG.normal(size=(3, 4)), np.array([0.3, 0.0, -0.2])
ROWS = RNG.normal(size=(5, 4)) + np.repeat(RNG.normal(size=(2, 4)), [3, 2], axis=0)
# With this sharpness the posterior is at the temperature of the network, and it is always trusted.
SETTINGS = Observer(memory=2.0, kappa=2.0, novelty_odds=0.4, evidence=0.6, sharpness=3.0, continuity=0.0)
SCALE = Scale(3.0, 0.5)


def head(settings=SETTINGS):
    return ElasticHead(WEIGHT, BIAS, settings, scale=SCALE)


def enumerated(rows, t, last):
    """The class of frame t given all frames up to the last: every origin and class of every later frame is tried."""
    rows = rows.astype(np.float32).astype(float)
    logits = rows @ WEIGHT.astype(np.float32).T.astype(float) + BIAS.astype(np.float32)
    frozen = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    classes = range(len(WEIGHT))

    def weight_of(s, origin, k, beliefs):
        """Frame s shows the object of frame `origin` (None: a new one), which has the class k."""
        if origin is None:
            return 0.4 * frozen[s, k]
        alike = np.exp(-(s - origin) / 2.0) * np.exp(2.0 / 0.5 * (units[s] @ units[origin] - 1))
        return alike * beliefs[origin][k] * (len(WEIGHT) * frozen[s, k]) ** 0.6

    def believed(s, beliefs):
        own = [sum(weight_of(s, origin, k, beliefs) for origin in (None, *range(s))) for k in classes]
        return np.array(own) / sum(own)

    beliefs = []
    for s in range(t + 1):
        beliefs.append(believed(s, beliefs))
    likelihood = []
    for sure in classes:
        known = [*beliefs[:t], np.eye(len(WEIGHT))[sure]]
        for s in range(t + 1, last + 1):
            known.append(believed(s, known))
        stories = product(*(product((None, *range(s)), classes) for s in range(t + 1, last + 1)))
        likelihood.append(
            sum(
                np.prod([weight_of(s, origin, k, known) for s, (origin, k) in enumerate(story, t + 1)])
                for story in stories
            )
        )
    found = beliefs[t] * np.array(likelihood)
    return found / found.sum()


@pytest.mark.parametrize("lag", [1, 2])
def test_a_late_answer_is_that_of_the_enumerated_model(lag):
    found = head().track(ROWS, lag=lag)
    wanted = [enumerated(ROWS, t, min(t + lag, len(ROWS) - 1)) for t in range(len(ROWS))]
    np.testing.assert_allclose(found, wanted, rtol=1e-4)
    assert np.abs(found - head().track(ROWS)).max() > 0.02


def test_smoothing_is_the_longest_lag_and_the_last_frame_has_nothing_to_wait_for():
    np.testing.assert_allclose(head().smooth(ROWS), head().track(ROWS, lag=50))
    np.testing.assert_allclose(head().smooth(ROWS[:4])[0], enumerated(ROWS, 0, 3), rtol=1e-4)
    np.testing.assert_array_equal(head().smooth(ROWS)[-1], head().track(ROWS)[-1])
    assert head().smooth(ROWS[:0]).shape == (0, 3)


def test_waiting_leaves_the_head_where_it_is_and_continues_from_there():
    model, whole = head(), head().smooth(ROWS)
    model.track_response(ROWS[:2], in_place=True)
    before = model.get_state()
    np.testing.assert_allclose(model.smooth(ROWS[2:]), whole[2:])
    assert model.get_state() == before


def test_waiting_takes_time_stamps_in_any_unit():
    np.testing.assert_allclose(head().smooth(ROWS, np.arange(5) / 30), head().smooth(ROWS), rtol=1e-6)


def test_a_frame_that_says_little_gets_the_class_of_those_after_it():
    blurred = [[0.9, 1.0], *[[1.0, 0.6]] * 4]
    model = ElasticHead(5 * np.eye(2), np.zeros(2), Observer(evidence=1.0))
    share = [model.track(blurred, lag=lag)[0, 0] for lag in (0, 1, 4)]
    assert share[0] < share[1] < share[2]
    assert share[0] < 0.5 < share[2]


def test_where_the_memory_is_not_trusted_the_future_changes_nothing():
    shuffled = np.random.default_rng(0).normal(size=(60, 4))
    model = head(Observer(continuity=50.0))
    at_rest = model.track_response(shuffled).frozen
    np.testing.assert_allclose(model.track(shuffled, lag=3)[-20:], at_rest[-20:], atol=1e-6)


@pytest.mark.parametrize("times", [None, np.array([0.0, 0.1, 0.2, 0.6, 0.7])])
@pytest.mark.parametrize("lag", [1, 2, 9])
def test_a_step_that_may_wait_gives_the_answers_of_a_recorded_stream_bit_for_bit(lag, times):
    model, wanted = head(), head().track(ROWS, times, lag=lag)
    stamps = [None] * len(ROWS) if times is None else times
    given = [model.step(row, time, lag=lag) for row, time in zip(ROWS, stamps, strict=True)]
    assert [one is None for one in given] == [t < lag for t in range(len(ROWS))]
    found = [*(one for one in given if one is not None), *model.waiting()]
    np.testing.assert_array_equal(found, wanted)
    assert model.waiting().shape == (0, 3)
    if times is None:  # the head itself has moved as without a wait
        np.testing.assert_array_equal(model.step(ROWS[0]), head().track([*ROWS, ROWS[0]])[-1])


def test_frames_that_wait_are_forgotten_when_the_head_moves_otherwise():
    model = head()
    assert model.step(ROWS[0], lag=1) is None
    model.step(ROWS[1])
    assert model.waiting().shape == (0, 3)
    assert model.step(ROWS[2], lag=1) is None
    np.testing.assert_array_equal(model.step(ROWS[3], lag=1), head().track(ROWS[:4], lag=1)[2])
    model.reset()
    assert model.step(ROWS[0], lag=1) is None


def test_only_an_observer_can_wait():
    with pytest.raises(TypeError, match="answers can only wait"):
        head(Springs(pull=1.0)).step(ROWS[0], lag=1)
    with pytest.raises(TypeError, match="answers can only wait if the settings are an Observer; got Springs"):
        head(Springs(pull=1.0)).track(ROWS, lag=1)
    with pytest.raises(TypeError, match="got LearningObserver"):
        head(LearningObserver()).track(ROWS, lag=1)
    with pytest.raises(ValueError, match="lag must be >= 0"):
        head().track(ROWS, lag=-1)


def test_a_linear_classifier_passes_the_wait_on():
    model = ElasticLinearClassifier().fit([[0.0], [1.0]], ["low", "high"])
    np.testing.assert_array_equal(model.track([[0.4], [0.9]], lag=5), model.smooth([[0.4], [0.9]]))
