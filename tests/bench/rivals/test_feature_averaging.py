"""The mean with the last features, against the rule written plainly."""

import numpy as np
import pytest

from springback_bench.rivals import softmax
from springback_bench.rivals.feature_averaging import FeatureAveraging


@pytest.fixture
def stream():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50, 6)).astype(np.float32), rng.normal(size=(4, 6)), rng.normal(size=4)


@pytest.mark.parametrize("share", [0.5, 0.2, 1.0])
def test_the_more_certain_of_two_answers_is_kept(stream, share):
    x, w, b = stream
    alone = softmax(x @ w.T + b)
    averaged = softmax(((1 - share) * x[1:] + share * x[:-1]) @ w.T + b)
    better = averaged.max(axis=1) > alone[1:].max(axis=1)
    assert 5 < better.sum() < 45
    expected = np.vstack([alone[:1], np.where(better[:, None], averaged, alone[1:])])
    assert np.allclose(FeatureAveraging(w, b, share=share).track(x), expected, atol=1e-5)


def test_without_a_share_of_the_last_frame_it_is_the_head(stream):
    x, w, b = stream
    assert np.allclose(FeatureAveraging(w, b, share=0.0).track(x), softmax(x @ w.T + b), atol=1e-5)


@pytest.mark.parametrize(("wrong", "bound"), [(-0.1, ">= 0"), (1.1, "<= 1")])
def test_a_share_is_between_nothing_and_everything(stream, wrong, bound):
    with pytest.raises(ValueError, match=f"share must be {bound}; got {wrong}"):
        FeatureAveraging(*stream[1:], share=wrong)
