"""The judge without labels: answers pooled over the frames of an object, also if it was away in between."""

import numpy as np

from springback.heads import Smoother

OBJECTS = np.eye(4)


def test_object_that_returns_after_another_one_is_recognised_again() -> None:
    """Objects 0 and 1 take turns; when 0 returns, the frozen head is unsure and mistakes it for 3."""
    shown = np.repeat([0, 1, 0, 1, 0], 6)
    logits = 4.0 * OBJECTS[shown]
    logits[12:18] = [0.3, 0.0, 0.0, 0.4]
    pooled = Smoother(reach=20).pool([logits], [OBJECTS[shown]], OBJECTS)[0]
    np.testing.assert_array_equal(pooled.argmax(axis=1), shown)
    alone = Smoother(reach=0).pool([logits], [OBJECTS[shown]], OBJECTS)[0]
    np.testing.assert_array_equal(alone.argmax(axis=1)[12:18], 3)


def test_answers_are_averaged_over_alike_frames_within_reach_only() -> None:
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(30, 5))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    logits = rng.normal(size=(30, 3))
    weight = rng.normal(size=(3, 5))
    chained = Smoother(reach=0).pool([logits], [directions], weight)[0]
    found = Smoother(reach=4, kappa=2.0).pool([logits], [directions], weight)[0]
    mean = directions.mean(axis=0)
    odds = np.exp(2.0 / (1 - mean @ mean) * (directions @ directions.T - 1))
    odds[np.abs(np.subtract.outer(np.arange(30), np.arange(30))) > 4] = 0
    expected = odds @ chained
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)
