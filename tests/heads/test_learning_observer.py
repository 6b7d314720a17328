"""A head that learns its deployment gains where it can, and never falls far below the frozen head."""

import numpy as np
import pytest

from springback.heads import ElasticHead, LearningObserver

WIDTH = 24


def a_world(n_classes, seed=0, shift=0.9):
    """A frozen head, and where its classes really are: all moved by less than they differ."""
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(n_classes, WIDTH))
    known /= np.linalg.norm(known, axis=1, keepdims=True)
    moved = known + shift * rng.normal(size=known.shape) / np.sqrt(WIDTH)
    return 6 * known, moved, rng


def frames_of(labels, moved, rng, noise=0.9):
    return (moved[labels] + noise * rng.normal(size=(len(labels), WIDTH)) / np.sqrt(WIDTH)).astype(np.float32)


def accuracies(weight, rows, labels, settings=None):
    """Of the frozen head and of the head that learns, in percent."""
    head = ElasticHead(weight, np.zeros(len(weight)), settings or LearningObserver())
    return [100 * np.mean(one.argmax(axis=1) == labels) for one in (rows @ weight.T, head.track(rows))]


def test_class_means_help_in_random_order_where_memory_cannot():
    weight, moved, rng = a_world(8, shift=1.5)
    labels = rng.integers(8, size=1500)
    rows = frames_of(labels, moved, rng)
    frozen, learned = accuracies(weight, rows, labels)
    assert learned > frozen + 2
    assert learned > accuracies(weight, rows, labels, LearningObserver(strength=0.0))[1] + 2


@pytest.mark.parametrize(
    ("n_classes", "labels"),
    [
        (6, np.zeros(600, np.int64)),
        (6, np.repeat(np.random.default_rng(1).integers(5, size=60), 10)),
        (1000, np.repeat(np.random.default_rng(2).integers(1000, size=60), 10)),
    ],
    ids=["one class", "a class that never comes", "1,000 classes"],
)
def test_a_stream_of_few_of_the_classes_costs_nothing(n_classes, labels):
    weight, moved, rng = a_world(n_classes)
    frozen, learned = accuracies(weight, frames_of(labels, moved, rng), labels)
    assert learned >= frozen - 0.5


def test_a_class_that_never_came_is_recognised_when_it_comes():
    weight, moved, rng = a_world(6)
    labels = np.concatenate([np.repeat(rng.integers(5, size=60), 10), np.full(40, 5)])
    rows = frames_of(labels, moved, rng)
    head = ElasticHead(weight, np.zeros(6), LearningObserver())
    frozen = (rows[600:] @ weight.T).argmax(axis=1)
    assert np.mean(head.track(rows)[600:].argmax(axis=1) == 5) >= np.mean(frozen == 5) - 0.005


@pytest.mark.parametrize(("strength", "loss"), [(0.5, 2.0), (2.0, 0.7)])
def test_heads_that_know_nothing_are_on_average_hardly_made_worse(strength, loss):
    """A head that is wrong more often than chance may become more so; one that is right more often gains.

    Eight such heads differ from chance, and the gains by two points each, so the standard error of the mean is 0.7.
    """
    found = []
    for seed in range(8):
        weight, moved, rng = a_world(6, seed)
        labels = np.repeat(rng.integers(6, size=400), 10)
        nothing = rng.normal(size=weight.shape)
        settings = LearningObserver(strength=strength)
        found.append(accuracies(nothing, frames_of(labels, moved, rng), labels, settings))
    frozen, learned = np.mean(found, axis=0)
    assert learned >= frozen - loss


def test_learning_that_does_not_pay_loses_its_weight():
    """The frozen answers of neighbours contradict what was learned, so the bets on it are lost."""
    weight, moved, rng = a_world(6, shift=0.0)
    labels = np.repeat(rng.integers(6, size=80), 10)
    rows = frames_of(labels, moved, rng, noise=0.3)
    head = ElasticHead(weight, np.zeros(6), LearningObserver(strength=1e3))
    state = head.state_
    state.memory.means[:] = -weight / 6
    state.memory.visits[:] = 50.0
    head.state_ = state
    before = head.track(rows[:1])
    for row in rows:
        head.step(row)
    assert before.argmax() != labels[0]
    assert head.state_.memory.earned[0, 0] < -3


def test_what_was_learned_fades_over_a_long_silence_and_not_over_a_short_one():
    weight, moved, rng = a_world(6)
    labels = np.repeat(rng.integers(6, size=40), 10)
    head = ElasticHead(weight, np.zeros(6), LearningObserver())
    for row in frames_of(labels, moved, rng):
        head.step(row)
    visits = head.state_.memory.visits
    assert visits.sum() > 50
    np.testing.assert_allclose(head.relax(30.0).state_.memory.visits, visits * np.exp(-0.01))
    assert head.relax(1e5).state_.memory.visits.max() < 1e-6


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"strength": -1.0}, "LearningObserver.strength must be"),
        ({"prior_frames": 0.0}, "LearningObserver.prior_frames must be"),
        ({"slowness": 0.0}, "LearningObserver.slowness must be"),
    ],
)
def test_impossible_settings_are_refused(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        LearningObserver(**change)
