"""A window balanced over the classes and diverse, against one kept as a list."""

import itertools

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.balanced_window import BalancedWindow


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 6)).astype(np.float32), 0.8 * rng.normal(size=(4, 6)), rng.normal(size=4)


def by_hand(x, w, b, window, strength, sharpness):
    kept, answers = [], []
    for row in x.astype(float):
        f = row / np.linalg.norm(row)
        z = w @ row + b + sum(strength * np.exp(-sharpness * (1 - key @ f)) * q for key, q in kept)
        q = softmax(z[None])[0]
        if len(kept) == window:
            classes = [int(one.argmax()) for _, one in kept]
            counts = np.bincount(classes, minlength=4)
            most = [place for place, k in enumerate(classes) if k == counts.argmax()]
            pairs = itertools.combinations(most, 2)  # in the order of age, the older one first
            kept.pop(max(pairs, key=lambda two: kept[two[0]][0] @ kept[two[1]][0])[0] if len(most) > 1 else 0)
        kept.append((f, q))
        answers.append(q)
    return np.array(answers)


@pytest.mark.parametrize("window", [2, 7, 100])
def test_votes_equal_those_of_a_window_kept_as_a_list(stream, window):
    settings = {"window": window, "strength": 1.5, "sharpness": 1.0}
    assert np.allclose(
        BalancedWindow(*stream[1:], **settings).track(stream[0]), by_hand(*stream, **settings), atol=1e-4
    )


def test_a_rare_class_is_kept_while_another_goes_on():
    model = BalancedWindow(9 * np.eye(2), np.zeros(2), window=4)
    model.track(np.zeros((0, 2)))
    model.step([0.0, 1.0])
    for angle in np.linspace(0, 0.5, 50):
        model.step([np.cos(angle), np.sin(angle)])
    assert sorted(model._state.posteriors.argmax(axis=1)) == [0, 0, 0, 1]


def test_without_strength_it_is_the_head(stream):
    x, w, b = stream
    assert np.allclose(BalancedWindow(w, b, strength=0.0).track(x), softmax(x @ w.T + b), atol=1e-5)


def test_bad_settings_are_refused(stream):
    for given, part in (
        ({"window": 1}, "window must be >= 2"),
        ({"strength": -1}, "strength must be >= 0"),
        ({"sharpness": -1}, "sharpness must be >= 0"),
    ):
        with pytest.raises(ValueError, match=part):
            BalancedWindow(*stream[1:], **given)
