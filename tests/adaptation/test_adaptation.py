"""The adaptation methods, each against a plain second way to compute it."""

import itertools

import numpy as np
import pytest

from springback.adaptation import (
    adjust_prototypes,
    count_transitions,
    filter_classes,
    minimise_entropy,
    smooth,
    softmax,
    sticky_transitions,
)


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return np.maximum(rng.normal(size=(60, 7)), 0).astype(np.float32), rng.normal(size=(4, 7)), rng.normal(size=4)


def test_smoothing_without_memory_changes_nothing(stream):
    outputs = softmax(stream[0])
    assert np.array_equal(smooth(outputs, 0), outputs)


def test_smoothing_weighs_the_past_exponentially(stream):
    outputs = stream[0].astype(float)
    ages = np.arange(len(outputs))[::-1]
    by_hand = ((1 - np.exp(-0.5)) * np.exp(-0.5 * ages)) @ outputs
    assert np.allclose(smooth(outputs, 2.0)[-1], by_hand)


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
    assert np.allclose(filter_classes(seen, transitions, prior=prior)[-1], total / total.sum())


def test_a_filter_without_stickiness_is_the_network_itself():
    seen = softmax(np.random.default_rng(2).normal(size=(9, 5)))
    assert np.allclose(filter_classes(seen, sticky_transitions(5, 1 / 5)), seen)


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
    assert np.allclose(minimise_entropy(x, w, b, learning_rate=0.05), expected, atol=1e-3)


def test_entropy_minimisation_at_rate_zero_is_the_frozen_network(stream):
    x, w, b = stream
    assert np.allclose(minimise_entropy(x, w, b, learning_rate=0.0), x @ w.T + b, atol=1e-5)


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
    assert np.allclose(adjust_prototypes(x, w, b, n_support=n_support), expected, atol=1e-4)


def test_bad_values_are_refused_in_one_sentence(stream):
    x, w, b = stream
    with pytest.raises(ValueError, match="memory must be >= 0; got -1"):
        smooth(x, -1)
    with pytest.raises(ValueError, match="stay must be"):
        sticky_transitions(3, 1.5)
    with pytest.raises(ValueError, match="features must have shape"):
        minimise_entropy(x[:, :3], w, b, learning_rate=0.1)
    with pytest.raises(ValueError, match="n_support must be"):
        adjust_prototypes(x, w, b, n_support=0)
    with pytest.raises(ValueError, match=r"weight must have shape \(any, any\); got \(7,\)"):
        adjust_prototypes(x, w[0], b, n_support=1)
    with pytest.raises(ValueError, match=r"labels must lie in 0 ... 2, one less than n_classes; got -1"):
        count_transitions(np.array([0, -1, 2]), 3)
    with pytest.raises(ValueError, match=r"labels must lie in 0 ... 2, one less than n_classes; got 3"):
        count_transitions(np.array([0, 3, 2]), 3)
    with pytest.raises(TypeError, match=r"labels must be whole numbers, one per frame; got float64 of shape \(2,\)"):
        count_transitions(np.array([0.0, 1.0]), 3)
    with pytest.raises(ValueError, match=r"transitions must be >= 0 everywhere; got -1\.0"):
        filter_classes(softmax(x), np.full((7, 7), -1.0))
    with pytest.raises(ValueError, match="prior must be > 0 for every class; got 0"):
        filter_classes(softmax(x), sticky_transitions(7, 0.5), prior=np.zeros(7))


def test_a_frame_that_is_not_a_number_is_refused_instead_of_spoiling_all_that_follow(stream):
    x, w, b = stream
    broken = x.copy()
    broken[3, 2] = np.nan
    for way in (
        lambda: smooth(broken, 2.0),
        lambda: softmax(broken),
        lambda: filter_classes(broken, sticky_transitions(7, 0.5)),
        lambda: minimise_entropy(broken, w, b, learning_rate=0.1),
        lambda: adjust_prototypes(broken, w, b, n_support=1),
    ):
        with pytest.raises(ValueError, match=r"must be finite everywhere; got .?NaN or infinity"):
            way()
