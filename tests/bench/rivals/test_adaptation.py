"""The adaptation methods, each against a plain second way to compute it. The protocol is tested in test_protocol.py."""

import itertools

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.entropy_minimisation import EntropyMinimisation
from springback_bench.rivals.markov_filter import MarkovFilter, count_transitions, sticky_transitions
from springback_bench.rivals.prototype_adjustment import PrototypeAdjustment
from springback_bench.rivals.smoothing import Smoothing

BEFORE = {
    "smoothing": [0.51668621, 0.12696236, 0.35635143],
    "logits": [0.53614624, 0.10250392, 0.36134984],
    "filter": [0.09896397, 0.08181068, 0.81922535],
    "entropy": [0.99709835, 0.00240257, 0.00049908],
    "prototypes": [0.42819244, 0.22831989, 0.34348767],
}
"""Answers to the last frame by the functions over whole arrays that these methods used to be."""


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return np.maximum(rng.normal(size=(60, 7)), 0).astype(np.float32), rng.normal(size=(4, 7)), rng.normal(size=4)


def test_smoothing_without_memory_changes_nothing(stream):
    outputs = softmax(stream[0])
    assert np.array_equal(Smoothing(7, memory=0, average="logits").track(stream[0]), outputs)
    assert np.allclose(Smoothing(7, memory=0).track(stream[0]), outputs, atol=1e-15)


def test_smoothing_weighs_the_past_exponentially(stream):
    logits = stream[0].astype(float)
    weights = (1 - np.exp(-0.5)) * np.exp(-0.5 * np.arange(len(logits))[::-1])
    by_hand = weights @ softmax(logits)
    assert np.allclose(Smoothing(7, memory=2.0).track(logits)[-1], by_hand / by_hand.sum())
    assert np.allclose(Smoothing(7, memory=2.0, average="logits").track(logits)[-1], softmax(weights[None] @ logits))


def test_smoothing_weighs_the_past_by_its_age_in_time(stream):
    times = np.cumsum(np.random.default_rng(1).exponential(size=60))
    by_hand = np.exp(-0.5 * (times[-1] - times)) @ softmax(stream[0])
    model = Smoothing(7, memory=2.0)
    model.memory_in_ = "time"
    assert np.allclose(model.track(stream[0], times)[-1], by_hand / by_hand.sum())


def test_the_filter_is_the_sum_over_all_paths():
    rng = np.random.default_rng(1)
    seen, transitions = softmax(rng.normal(size=(4, 3))), sticky_transitions(3, 0.7)
    prior = np.array([0.5, 0.3, 0.2])
    total = np.zeros(3)
    for path in np.ndindex(3, 3, 3, 3):
        weight = 1 / 3
        for before, after in itertools.pairwise(path):
            weight *= transitions[before, after]
        start = transitions[:, path[0]].sum()
        total[path[-1]] += start * weight * np.prod([seen[t, k] / prior[k] for t, k in enumerate(path)])
    model = MarkovFilter(3, transitions=transitions, prior=prior)
    assert np.allclose(model.track(np.log(seen))[-1], total / total.sum())


def test_the_filter_applies_its_transitions_over_a_gap_as_often_as_steps_are_missing():
    rng = np.random.default_rng(4)
    transitions = count_transitions(rng.integers(0, 3, 50), 3)
    seen, gaps = softmax(rng.normal(size=(6, 3))), [1, 1, 0, 3, 8, 1000]
    belief = np.full(3, 1 / 3)
    for row, gap in zip(seen, gaps, strict=True):
        belief = row * (belief @ np.linalg.matrix_power(transitions, gap))
        belief /= belief.sum()
    model = MarkovFilter(3, transitions=transitions)
    model.memory_in_ = "time"
    assert np.allclose(model.track(np.log(seen), np.cumsum(gaps))[-1], belief)


def test_the_filter_rounds_the_frames_between_time_stamps():
    logits = np.random.default_rng(4).normal(size=(9, 3))
    model = MarkovFilter(3)
    jittered = 0.04 * np.array([0, 1.02, 1.99, 3.1, 4.05, 5, 5.98, 7, 8])
    assert np.array_equal(model.track(logits, jittered), model.track(logits))
    paused = jittered + np.where(np.arange(9) > 5, 0.04 * 6, 0)
    for row, stamp in zip(logits[:6], paused, strict=False):
        model.step(row, stamp)
    expected = MarkovFilter(3)
    for row in logits[:6]:
        expected.step(row)
    assert np.allclose(model.track(logits[6:], paused[6:]), expected.relax(6).track(logits[6:]))
    assert np.allclose(model.relax(0.04 * 6).track(logits[6:]), expected.track(logits[6:]))


def test_after_a_long_silence_the_filter_expects_what_is_stationary():
    transitions = count_transitions(np.array([0, 0, 1, 0, 0, 2, 0]), 3)
    model = MarkovFilter(3, transitions=transitions)
    model.step([0.0, 9.0, 0.0])
    expected = np.linalg.matrix_power(transitions, 10_000)[0]
    assert np.allclose(model.relax(1e15).step([0.0, 0.0, 0.0]), expected)


@pytest.mark.parametrize(
    ("memory_in", "times", "nearest"),
    [
        ("time", [0, 1, 2.6], [0, 1, 3]),
        ("time", [0, 1.4, 2.8, 4.2, 5.6, 7.0, 8.4, 9.8], [0, 1, 3, 4, 6, 7, 8, 10]),
        ("frames", [0, 1, 2, 3, 4.6, 5.6, 6.6, 7.6], [0, 1, 2, 3, 5, 6, 7, 8]),
    ],
)
def test_a_frame_between_two_whole_steps_counts_at_the_nearest_and_nothing_adds_up(memory_in, times, nearest):
    logits = np.random.default_rng(3).normal(size=(len(times), 3))
    model, exact = MarkovFilter(3), MarkovFilter(3)
    model.memory_in_ = exact.memory_in_ = memory_in
    found = model.track(logits, times)
    assert np.allclose(found, exact.track(logits, nearest))
    assert np.allclose([model.step(row, time) for row, time in zip(logits, times, strict=True)], found)


def test_a_silence_of_part_of_a_step_adds_up_to_whole_ones():
    logits = np.random.default_rng(3).normal(size=(3, 3))
    model, exact = MarkovFilter(3), MarkovFilter(3)
    for one in (model, exact):
        one.step(logits[0])
    assert np.allclose(model.relax(0.6).relax(0.6).track(logits), exact.relax(1).track(logits))


def test_steps_far_from_the_usual_gap_of_time_stamps_warn():
    model = MarkovFilter(3)
    model.memory_in_ = "time"
    with pytest.warns(UserWarning, match="memory is 1, but time stamps are usually 0.0333 apart"):
        model.track(np.zeros((40, 3)), np.arange(40) / 30)


def test_a_filter_without_stickiness_is_the_network_itself():
    logits = np.random.default_rng(2).normal(size=(9, 5))
    model = MarkovFilter(5, transitions=sticky_transitions(5, 1 / 5), sharpness=0.5)
    assert np.allclose(model.track(logits), softmax(0.5 * logits))


def test_a_rate_of_switches_stands_for_sticky_transitions_and_gives_way_to_given_ones():
    logits = np.random.default_rng(2).normal(size=(9, 5))
    sticky = MarkovFilter(5, transitions=sticky_transitions(5, 0.7)).track(logits)
    assert np.array_equal(MarkovFilter(5, switch_rate=0.3).track(logits), sticky)
    given = MarkovFilter(5, transitions=sticky_transitions(5, 0.7), switch_rate=0.01)
    assert np.array_equal(given.track(logits), sticky)
    with pytest.raises(ValueError, match="switch_rate must be <= 1; got 2"):
        MarkovFilter(5, switch_rate=2)


def test_counted_transitions_are_found_again():
    rng = np.random.default_rng(3)
    truth = sticky_transitions(3, 0.9)
    labels = [0]
    for _ in range(20_000):
        labels.append(int(rng.choice(3, p=truth[labels[-1]])))
    assert np.abs(count_transitions(np.array(labels), 3) - truth).max() < 0.02


def test_entropy_is_minimised_along_the_gradient_that_autograd_finds(stream):
    torch = pytest.importorskip("torch")
    x, w, b = stream
    scale = torch.ones(7, requires_grad=True)
    shift = torch.zeros(7, requires_grad=True)
    descent = torch.optim.SGD([scale, shift], lr=0.05, momentum=0.9)
    weight, bias, expected = torch.tensor(w).float(), torch.tensor(b).float(), []
    for row in torch.tensor(x):
        y = weight @ (scale * row + shift) + bias
        expected.append(y.detach().numpy().copy())
        descent.zero_grad()
        torch.distributions.Categorical(logits=y).entropy().backward()
        descent.step()
    answers = EntropyMinimisation(w, b, learning_rate=0.05).track(x)
    assert np.allclose(answers, softmax(np.array(expected)), atol=1e-3)


def test_entropy_minimisation_at_rate_zero_is_the_frozen_network(stream):
    x, w, b = stream
    assert np.allclose(EntropyMinimisation(w, b, learning_rate=0.0).track(x), softmax(x @ w.T + b), atol=1e-5)


@pytest.mark.parametrize("n_support", [1, 3, 100])
def test_prototypes_equal_those_of_sets_kept_as_lists(stream, n_support):
    x, w, b = stream
    sets = [[w[k] / np.linalg.norm(w[k])] for k in range(4)]
    kept = [[] for _ in range(4)]
    expected = []
    for row in x.astype(float):
        p = softmax((w @ row + b)[None])[0]
        k = int(p.argmax())
        kept[k].append((-(p * np.log(p)).sum(), row / np.linalg.norm(row)))
        kept[k] = sorted(kept[k], key=lambda one: one[0])[:n_support]
        means = [np.mean(sets[c] + [unit for _, unit in kept[c]], axis=0) for c in range(4)]
        expected.append([mean @ row for mean in means])
    answers = PrototypeAdjustment(w, b, n_support=n_support).track(x)
    assert np.allclose(answers, softmax(np.array(expected)), atol=1e-4)


def test_answers_are_those_of_before_the_methods_were_objects():
    rng = np.random.default_rng(5)
    x, w, b = rng.random((40, 6)).astype(np.float32), rng.normal(size=(3, 6)), rng.normal(size=3)
    logits = x @ w.T + b
    transitions, prior = sticky_transitions(3, 0.8), np.array([0.5, 0.3, 0.2])
    last = {
        "smoothing": Smoothing(3, memory=1.5).track(logits),
        "logits": Smoothing(3, memory=1.5, average="logits").track(logits),
        "filter": MarkovFilter(3, transitions=transitions, prior=prior, sharpness=0.5).track(logits),
        "entropy": EntropyMinimisation(w, b, learning_rate=0.05).track(x),
        "prototypes": PrototypeAdjustment(w, b, n_support=5).track(x),
    }
    for name, before in BEFORE.items():
        assert np.allclose(last[name][-1], before, atol=1e-6), name


def test_bad_values_are_refused_in_one_sentence(stream):
    x, w, b = stream
    with pytest.raises(ValueError, match="memory must be >= 0; got -1"):
        Smoothing(7, memory=-1)
    with pytest.raises(ValueError, match="average must be one of 'probabilities', 'logits'; got 'mean'"):
        Smoothing(7, average="mean")
    with pytest.raises(ValueError, match="n_classes must be >= 2; got 1"):
        Smoothing(1)
    with pytest.raises(ValueError, match="stay must be"):
        sticky_transitions(3, 1.5)
    with pytest.raises(ValueError, match=r"X must have shape \(any, 7\); got \(60, 3\)"):
        EntropyMinimisation(w, b).track(x[:, :3])
    with pytest.raises(ValueError, match="learning_rate must be"):
        EntropyMinimisation(w, b, learning_rate=-1)
    with pytest.raises(ValueError, match="n_support must be"):
        PrototypeAdjustment(w, b, n_support=0)
    with pytest.raises(ValueError, match=r"weight must have shape \(any, any\); got \(7,\)"):
        PrototypeAdjustment(w[0], b)
    with pytest.raises(ValueError, match=r"labels must lie in 0 ... 2, one less than n_classes; got -1"):
        count_transitions(np.array([0, -1, 2]), 3)
    with pytest.raises(ValueError, match=r"labels must lie in 0 ... 2, one less than n_classes; got 3"):
        count_transitions(np.array([0, 3, 2]), 3)
    with pytest.raises(TypeError, match=r"labels must be whole numbers, one per frame; got float64 of shape \(2,\)"):
        count_transitions(np.array([0.0, 1.0]), 3)
    with pytest.raises(ValueError, match=r"transitions must be >= 0 everywhere; got -1\.0"):
        MarkovFilter(7, transitions=np.full((7, 7), -1.0))
    with pytest.raises(ValueError, match="transitions must have rows that sum to 1; got"):
        MarkovFilter(7, transitions=np.ones((7, 7)))
    with pytest.raises(ValueError, match="prior must be > 0 for every class; got 0"):
        MarkovFilter(7, prior=np.zeros(7))
    with pytest.raises(TypeError, match="X must hold real numbers; got dtype complex128"):
        Smoothing(7).track(np.ones((2, 7), complex))
    with pytest.raises(ValueError, match="X must hold rows of numbers, all of the same length"):
        Smoothing(2).track([[1.0, 2.0], [1.0]])


def test_a_frame_that_is_not_a_number_is_refused_instead_of_spoiling_all_that_follow(stream):
    broken = stream[0].copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"must be finite everywhere; got .?NaN or infinity"):
        softmax(broken)


def test_rows_that_overflow_are_refused_and_nothing_moves(stream):
    x, w, b = stream
    model = PrototypeAdjustment(w, b)
    model.step(x[0])
    before = model.track(x)
    with pytest.raises(ValueError, match=r"rows must be scaled down until they can be computed with; got NaN"):
        model.step(np.full(7, 3e38))
    with pytest.raises(ValueError, match="x must be finite everywhere"):
        model.step(np.full(7, 3e300))
    assert np.array_equal(model.track(x), before)
