"""Prototypes that wander on a sphere, against the updates written plainly with Bessel functions of SciPy."""

import numpy as np
import pytest
from scipy.special import ive

from springback_bench.rivals import softmax
from springback_bench.rivals.prototype_dynamics import PrototypeDynamics, mean_resultant_length


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 5)).astype(np.float32), rng.normal(size=(3, 5)), rng.normal(size=3)


def mean_length(kappa, n):
    return ive(n / 2, kappa) / ive(n / 2 - 1, kappa)


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def by_hand(x, w, kappa_t, kappa_e, window, iterations, learn_shares):
    kept = [(None, unit(w))]  # (unit features, expected prototypes); the first entry is what the window builds on
    answers = []
    for h in unit(x.astype(float)):
        kept = [*kept, (h, kept[-1][1])]
        if len(kept) > window + 1:
            kept = kept[1:]
        shares = np.full(len(w), 1 / len(w))

        def belongs(h, means, shares):
            return softmax(np.log(shares)[None] + kappa_e * (means @ h)[None])[0]

        for _ in range(iterations):
            lambdas = [None] + [belongs(h, means, shares) for h, means in kept[1:]]
            if learn_shares:
                shares = np.mean(lambdas[1:], axis=0)
            for i in range(1, len(kept)):
                beta = kappa_t * kept[i - 1][1] + kappa_e * lambdas[i][:, None] * kept[i][0]
                if i + 1 < len(kept):
                    beta = beta + kappa_t * kept[i + 1][1]
                gamma = np.linalg.norm(beta, axis=1)
                kept[i] = (kept[i][0], mean_length(gamma, x.shape[1])[:, None] * unit(beta))
        answers.append(belongs(*kept[-1], shares))
    return np.array(answers)


@pytest.mark.parametrize("n", [2, 3, 10, 513])
def test_the_length_of_the_mean_is_a_ratio_of_bessel_functions(n):
    for kappa in np.geomspace(0.01 if n < 100 else 20.0, 1e5, 50):
        assert mean_resultant_length(kappa, n) == pytest.approx(mean_length(kappa, n), rel=5e-6)
    assert mean_resultant_length(0.0, n) == 0
    assert mean_resultant_length(1e12, n) == pytest.approx(1)


@pytest.mark.parametrize("shares", ["uniform", "window"])
@pytest.mark.parametrize(("window", "iterations"), [(1, 1), (3, 4), (30, 2)])
def test_prototypes_follow_the_updates(stream, window, iterations, shares):
    x, w, b = stream
    model = PrototypeDynamics(
        w, b, kappa_transition=30.0, kappa_emission=8.0, window=window, iterations=iterations, shares=shares
    )
    expected = by_hand(x, w, 30.0, 8.0, window, iterations, shares == "window")
    assert np.allclose(model.track(x), expected, atol=1e-4)


def test_prototypes_that_cannot_move_stay_at_the_weights(stream):
    x, w, b = stream
    model = PrototypeDynamics(w, b, kappa_transition=1e12, kappa_emission=7.0)
    assert np.allclose(model.track(x), softmax(7.0 * unit(x) @ unit(w).T), atol=1e-4)


def test_frames_and_weights_of_zeros_are_answered(stream):
    _, w, b = stream
    assert np.isfinite(PrototypeDynamics(0 * w, b).track(np.zeros((5, 5)))).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kappa_transition": 0}, "kappa_transition must be > 0; got 0"),
        ({"kappa_emission": -1}, "kappa_emission must be > 0; got -1"),
        ({"window": 0}, "window must be >= 1; got 0"),
        ({"iterations": 0}, "iterations must be >= 1; got 0"),
        ({"shares": "learned"}, "shares must be one of 'uniform', 'window'; got 'learned'"),
    ],
)
def test_bad_settings_are_refused_in_one_sentence(stream, wrong, message):
    with pytest.raises(ValueError, match=message):
        PrototypeDynamics(*stream[1:], **wrong)
