import numpy as np
import pytest

import torch
from springback_paper.baselines.learning import Learner, ahead
from torch import nn


def test_a_step_is_that_of_adam():
    rng = np.random.default_rng(0)
    model = nn.Linear(3, 2, bias=False)
    w = model.weight.detach().numpy().astype(float)
    learner = Learner(model, learning_rate=0.01)
    m = v = np.zeros((2, 3))
    for step in range(1, 6):
        x, labels = rng.random((7, 3)), rng.integers(2, size=7)
        logits = x @ w.T
        posterior = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        gradient = (posterior - np.eye(2)[labels]).T @ x / 7
        right = learner.learn(model(torch.tensor(x, dtype=torch.float32)), torch.tensor(labels))
        assert right == (logits.argmax(axis=1) == labels).sum()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        w = w - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
        np.testing.assert_allclose(model.weight.detach().numpy(), w, atol=1e-5)


def test_a_step_of_plain_descent_is_the_gradient_times_the_rate_and_leaves_no_memory():
    rng = np.random.default_rng(1)
    model = nn.Linear(3, 2, bias=False)
    learner = Learner(model, learning_rate=0.2, optimiser="sgd")
    for _ in range(3):
        w = model.weight.detach().numpy().astype(float).copy()
        x, labels = rng.random((7, 3)), rng.integers(2, size=7)
        logits = x @ w.T
        posterior = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        gradient = (posterior - np.eye(2)[labels]).T @ x / 7
        learner.learn(model(torch.tensor(x, dtype=torch.float32)), torch.tensor(labels))
        np.testing.assert_allclose(model.weight.detach().numpy(), w - 0.2 * gradient, atol=1e-6)
    assert learner.moments() == {}
    learner.set_moments({})


def test_an_unknown_optimiser_is_refused():
    with pytest.raises(ValueError, match="optimiser must be one of 'adam', 'sgd'; got 'lion'"):
        Learner(nn.Linear(3, 2), 0.1, optimiser="lion")


def test_what_needs_no_gradient_is_not_learned():
    model = nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    assert set(Learner(model, 0.1).weights) == {"weight"}


def test_lessons_come_in_order_and_one_ahead():
    made = []

    def make(number):
        made.append(number)
        return -number

    coming = ahead(make, 3, 9)
    assert next(coming) == (3, -3)
    assert made in ([3], [3, 4])
    assert [number for number, _ in coming] == [4, 5, 6, 7, 8]
    assert made == list(range(3, 9))
    assert list(ahead(make, 5, 5)) == []


def test_an_error_in_making_a_lesson_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda number: 1 // (2 - number), 0, 4))
