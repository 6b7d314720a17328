"""SIGHT: inertia that gives way to surprise, against the equations written with arrays."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.gated_prototypes import GatedPrototypes

SETTINGS = {"sensitivity": 2.0, "temperature": 0.3, "rate": 0.1, "spring": 0.05, "habit_rate": 0.2}


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 6)).astype(np.float32), 0.8 * rng.normal(size=(4, 6)), rng.normal(size=4)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def by_hand(x, w, b, sensitivity, temperature, rate, spring, habit_rate):
    home, q, h, answers = unit(w), np.full(4, 0.25), np.full(4, 0.25), []
    mu = home
    for row in x.astype(float):
        f, z = unit(row), q @ mu
        surprise = 1 - np.exp(-sensitivity * (1 - f @ unit(z)) ** 2)
        route = softmax((unit(mu - z) @ unit(f - z) / temperature)[None])[0] * np.sqrt(h)
        q = softmax((w @ row + b)[None])[0] * ((1 - surprise) * q + surprise * route / route.sum())
        q = q / q.sum()
        h = h + habit_rate * (q - h)
        mu = unit((1 - spring) * (mu + rate * q[:, None] * (f - mu)) + spring * home)
        answers.append(q)
    return np.array(answers)


def test_answers_are_those_of_the_equations(stream):
    assert np.allclose(
        GatedPrototypes(*stream[1:], **SETTINGS).track(stream[0]), by_hand(*stream, **SETTINGS), atol=1e-4
    )


def test_without_surprise_the_evidence_of_all_frames_adds_up(stream):
    x, w, b = stream
    model = GatedPrototypes(w, b, sensitivity=0.0, rate=0.0, spring=0.0)
    logits = x[:8].astype(float) @ w.T + b
    assert np.allclose(model.track(x[:8]), softmax(np.cumsum(np.log(softmax(logits)), axis=0)), atol=1e-4)


@pytest.mark.parametrize("name", ["sensitivity", "rate", "spring", "habit_rate"])
def test_negative_settings_are_refused(stream, name):
    with pytest.raises(ValueError, match=rf"^{name} must be >= 0; got -1"):
        GatedPrototypes(*stream[1:], **{name: -1})
