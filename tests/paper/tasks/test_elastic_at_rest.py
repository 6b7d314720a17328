"""Centroids at rest at their own best, and class feedback: the evidence is that at rest, settings are from practice."""

import numpy as np
import pytest

from springback.data import make_omnist
from springback.elastic import Elasticity, init, prepare, read
from springback_paper.inputs.elastic_omnist import ElasticOmnist, brightness
from springback_paper.tasks.elastic import evaluate, find_centroids, name_centroids
from springback_paper.tasks.elastic_at_rest import AtRest, choose_static, name_at_rest, score_at_rest
from tests.paper.tasks.test_elastic import strokes

GRID = AtRest(powers=(0.5,), kappas=(20.0, 40.0), practice_images=60)
SMALL = ElasticOmnist(n_clusters=20, pull=10.0, threshold_images=60)


@pytest.fixture(scope="module")
def centroids():
    return find_centroids(SMALL, strokes(600), seed=0)


@pytest.fixture(scope="module")
def scores(centroids):
    return score_at_rest(GRID, strokes(600), strokes(80, seed=1), seed=0, at_half=centroids)


def test_evidence_is_what_the_resting_model_says(centroids):
    train, frames = strokes(600), make_omnist(strokes(5, seed=2), seed=3)
    named = name_at_rest(centroids.resting, train, 0.5, (40.0,))
    classifier = name_centroids(SMALL, centroids.resting, train)
    np.testing.assert_allclose(named.shares[40.0][:, :3], classifier.label_shares_, atol=1e-4)
    seen = named.look(frames, 40.0)
    model = prepare(Elasticity(kappa=40.0, pull=0.0), centroids.resting)
    response = read(model, init(model), brightness(frames.frames, 0.5))
    np.testing.assert_allclose(seen.similarity, response.similarity, atol=1e-5)
    posterior = np.exp(seen.log_joint - seen.log_joint.max(axis=1, keepdims=True))[:, :3]
    expected = response.posterior @ classifier.label_shares_
    np.testing.assert_allclose(posterior / posterior.sum(axis=1, keepdims=True), expected, atol=1e-3)


def test_its_own_settings_are_at_least_as_good_on_practice_as_those_of_the_elastic_model(centroids):
    train = strokes(600)
    practice = make_omnist(train[540:], seed=1_000_000)
    both = choose_static([name_at_rest(centroids.resting, train, 0.5, (5.0, 40.0))], practice)
    assert (both.answer(practice) == practice.labels).mean() >= max(
        (choose_static([name_at_rest(centroids.resting, train, 0.5, (kappa,))], practice).answer(practice)
         == practice.labels).mean()
        for kappa in (5.0, 40.0)
    )  # fmt: skip


def test_feedback_lies_above_rest_and_both_have_every_table(scores, centroids):
    elastic = evaluate(SMALL, strokes(600), strokes(80, seed=1), 0, centroids)
    reached = scores.omnist_test
    assert reached["elastic_feedback"] > reached["elastic_static_best"]
    assert reached["elastic_static_best"] > elastic.static.accuracy - 0.05
    assert set(reached) == set(scores.mnist_test) == set(scores.by_ink_hidden) == set(scores.by_rows_hidden)
