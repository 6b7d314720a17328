"""The filter that learns its transitions, against its rule written plainly."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.learned_transitions import LearnedTransitions
from springback_bench.rivals.markov_filter import MarkovFilter, sticky_transitions


def sticky_stream(frames=400, n_classes=4, stay=0.95, noise=1.5, seed=0):
    rng = np.random.default_rng(seed)
    labels = [0]
    for _ in range(frames - 1):
        labels.append(int(rng.choice(n_classes, p=sticky_transitions(n_classes, stay)[labels[-1]])))
    return np.eye(n_classes)[labels] * 2 + noise * rng.normal(size=(frames, n_classes)), np.array(labels)


def by_hand(logits, sharpness, memory, prior_count, gate_memory, gate):
    k = logits.shape[1]
    belief, counts, evidence, answers = np.full(k, 1 / k), np.zeros((k, k)), 0.0, []
    for q in softmax(logits, sharpness):
        transitions = (counts + prior_count / k) / (counts + prior_count / k).sum(axis=1, keepdims=True)
        predicted = belief @ transitions
        pair = np.outer(belief, q) * transitions
        pair /= pair.sum()
        evidence = np.exp(-1 / gate_memory) * evidence + np.log((q * predicted).sum() / (q / k).sum())
        counts = np.exp(-1 / memory) * counts + pair
        belief = q * predicted / (q * predicted).sum()
        answers.append(belief if evidence >= gate else q)
    return np.array(answers)


@pytest.mark.parametrize("gate", [-1e9, 0.0, 1.0, 1e9])
def test_the_filter_follows_its_rule(gate):
    logits, _ = sticky_stream()
    settings = {"sharpness": 0.7, "memory": 50.0, "prior_count": 2.0, "gate_memory": 10.0, "gate": gate}
    assert np.allclose(LearnedTransitions(4, **settings).track(logits), by_hand(logits, **settings), atol=1e-9)


def test_it_learns_nearly_what_a_filter_with_the_true_transitions_knows():
    logits, labels = sticky_stream()
    alone = (logits.argmax(axis=1) == labels).mean()
    informed = (MarkovFilter(4, switch_rate=0.05).track_labels(logits) == labels).mean()
    learned = (LearnedTransitions(4).track_labels(logits) == labels).mean()
    assert alone + 0.05 < learned <= informed + 0.02


def test_without_order_the_gate_keeps_the_answers_of_the_network():
    logits, labels = sticky_stream(stay=0.25)
    answers = LearnedTransitions(4, gate=0.5).track(logits)
    same = np.isclose(answers, softmax(logits)).all(axis=1)
    assert same.mean() > 0.5
    assert (answers.argmax(axis=1) == labels).mean() > (logits.argmax(axis=1) == labels).mean() - 0.03


def test_a_filter_that_learns_nothing_or_never_answers_is_the_network():
    logits, _ = sticky_stream()
    assert np.allclose(LearnedTransitions(4, prior_count=1e15).track(logits), softmax(logits), atol=1e-9)
    assert np.array_equal(LearnedTransitions(4, gate=1e9).track(logits), softmax(logits))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sharpness": 0}, "sharpness must be > 0; got 0"),
        ({"memory": -1}, "memory must be > 0; got -1"),
        ({"prior_count": 0}, "prior_count must be >= 1e-09; got 0"),
        ({"gate_memory": 0}, "gate_memory must be > 0; got 0"),
        ({"gate": np.inf}, "gate must be finite; got inf"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        LearnedTransitions(3, **wrong)
