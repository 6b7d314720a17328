"""Answers that wait for later frames, against a plain enumeration of all classes of all frames together."""

import copy
from dataclasses import replace
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


def weights_of(rows, settings=SETTINGS):
    """The frozen answers s (T, K), and the odds f l (T, T) that a frame shows the object of an earlier one."""
    rows = rows.astype(np.float32).astype(float)
    logits = rows @ WEIGHT.astype(np.float32).T.astype(float) + BIAS.astype(np.float32)
    frozen = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    ago = np.subtract.outer(np.arange(len(rows)), np.arange(len(rows)))
    odds = np.exp(-ago / settings.memory + settings.kappa / SCALE.distance * (units @ units.T - 1))
    return frozen, np.where((ago > 0) & (ago <= settings.depth), odds, 0.0)


def enumerated(rows, last, settings=SETTINGS, known=None):
    """Posteriors (last + 1, K) of each frame given those up to the last: all classes of all frames together are tried.

    `known` are what is believed of the first frames, each by itself.
    """
    frozen, odds = weights_of(rows, settings)
    known = [] if known is None else known
    found = np.zeros((last + 1, len(WEIGHT)))
    for classes in product(range(len(WEIGHT)), repeat=last + 1):
        likely = np.prod([belief[k] for belief, k in zip(known, classes, strict=False)])
        for s in range(len(known), last + 1):
            k = classes[s]
            same = sum(odds[s, i] for i in range(s) if classes[i] == k)
            new = settings.novelty_odds * frozen[s, k]
            likely *= new + same * (len(WEIGHT) * frozen[s, k]) ** settings.evidence
        found[range(last + 1), classes] += likely
    return found / found.sum(axis=1, keepdims=True)


def test_an_answer_that_waits_for_one_frame_is_exact_for_what_is_believed_of_those_before():
    believed, found = head().track(ROWS), head().track(ROWS, lag=1)
    wanted = [enumerated(ROWS, t + 1, known=believed[:t])[t] for t in range(len(ROWS) - 1)]
    np.testing.assert_allclose(found[:-1], wanted, rtol=1e-4)
    assert np.abs(found - believed).max() > 0.02


def test_with_a_memory_of_one_frame_hindsight_is_exact():
    settings = replace(SETTINGS, depth=1)
    np.testing.assert_allclose(head(settings).smooth(ROWS), enumerated(ROWS, len(ROWS) - 1, settings), rtol=1e-4)


@pytest.mark.parametrize("kappa", [0.0, 2.0])
def test_hindsight_is_about_as_close_to_the_exact_posterior_as_the_observer_at_once(kappa):
    settings, far = replace(SETTINGS, kappa=kappa, novelty_odds=0.1), {"at once": [], "late": [], "never": []}
    for seed in range(12):
        rows = np.random.default_rng(seed).normal(size=(6, 4))
        exact = enumerated(rows, 5, settings)
        then = [enumerated(rows, t, settings)[t] for t in range(6)]
        at_once, late = head(settings).track(rows), head(settings).smooth(rows)
        for name, one, wanted in (("at once", at_once, then), ("late", late, exact), ("never", at_once, exact)):
            far[name].append(np.abs(one - wanted).sum(axis=1).mean())
    mean = {name: np.mean(all_) for name, all_ in far.items()}
    assert mean["late"] < 1.5 * mean["at once"], mean
    assert mean["late"] < 0.5 * mean["never"], mean


def test_smoothing_is_the_longest_lag_and_the_last_frame_has_nothing_to_wait_for():
    np.testing.assert_allclose(head().smooth(ROWS), head().track(ROWS, lag=50))
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
    model = ElasticLinearClassifier(settings=Observer()).fit([[0.0], [1.0]], ["low", "high"])
    np.testing.assert_array_equal(model.track([[0.4], [0.9]], lag=5), model.smooth([[0.4], [0.9]]))


def test_a_copy_of_a_head_that_waits_leaves_the_answers_to_it():
    alone, waiting = head(), head()
    for row in ROWS[:4]:
        alone.step(row, lag=3)
        waiting.step(row, lag=3)
    other = copy.copy(waiting)
    assert len(other.waiting()) == 0
    assert other.step(ROWS[4], lag=3) is None
    np.testing.assert_array_equal(waiting.step(ROWS[4], lag=3), alone.step(ROWS[4], lag=3))
    np.testing.assert_array_equal(waiting.waiting(), alone.waiting())
