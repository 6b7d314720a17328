"""The cache of certain features, against caches kept as lists."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.feature_cache import FeatureCache


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 6)).astype(np.float32), 0.8 * rng.normal(size=(4, 6)), rng.normal(size=4)


def by_hand(x, w, b, strength, sharpness, n_shots, negative_strength, negative_sharpness, n_negative):
    certain, unsure, answers = [[] for _ in b], [[] for _ in b], []
    for row in x.astype(float):
        z = w @ row + b
        p, f = softmax(z[None])[0], row / np.linalg.norm(row)
        entropy, k = -(p * np.log(p)).sum(), int(z.argmax())
        certain[k] = sorted([*certain[k], (entropy, f)], key=lambda one: one[0])[:n_shots]
        if 0.2 < entropy / np.log(len(b)) < 0.5:
            unsure[k] = sorted([*unsure[k], (entropy, f, p > 0.03)], key=lambda one: one[0])[:n_negative]
        for one in range(len(b)):
            for _, key in certain[one]:
                z[one] += strength * np.exp(-sharpness * (1 - key @ f))
            for _, key, against in unsure[one]:
                z -= negative_strength * np.exp(-negative_sharpness * (1 - key @ f)) * against
        answers.append(z)
    assert sum(map(len, unsure)) > 4
    return softmax(np.array(answers))


@pytest.mark.parametrize("n_shots", [1, 3, 50])
def test_votes_equal_those_of_caches_kept_as_lists(stream, n_shots):
    settings = {"strength": 1.5, "sharpness": 3.0, "n_shots": n_shots}
    settings |= {"negative_strength": 0.8, "negative_sharpness": 1.5, "n_negative": 2}
    assert np.allclose(FeatureCache(*stream[1:], **settings).track(stream[0]), by_hand(*stream, **settings), atol=1e-4)


def test_without_strength_it_is_the_head(stream):
    x, w, b = stream
    model = FeatureCache(w, b, strength=0.0, negative_strength=0.0)
    assert np.allclose(model.track(x), softmax(x @ w.T + b), atol=1e-5)


@pytest.mark.parametrize("name", ["strength", "sharpness", "negative_strength", "negative_sharpness"])
def test_negative_settings_are_refused(stream, name):
    with pytest.raises(ValueError, match=rf"^{name} must be >= 0; got -1"):
        FeatureCache(*stream[1:], **{name: -1})


@pytest.mark.parametrize("name", ["n_shots", "n_negative"])
def test_a_cache_has_room_for_a_frame(stream, name):
    with pytest.raises(ValueError, match=f"{name} must be >= 1; got 0"):
        FeatureCache(*stream[1:], **{name: 0})
