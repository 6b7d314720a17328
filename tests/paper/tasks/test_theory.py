"""The rows of the theory as written: each differs from the tuned model by what it says, and shares its centroids."""

import pytest

from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.models import MODELS
from springback_paper.tasks.elastic import evaluate, find_centroids
from springback_paper.tasks.theory import as_written, score_as_written
from tests.paper.tasks.test_elastic import strokes

SMALL = ElasticOmnist(n_clusters=20, pull=10.0, threshold_images=60)


@pytest.fixture(scope="module")
def reached():
    train, test = strokes(600), strokes(80, seed=1)
    centroids = find_centroids(SMALL, train, seed=0)
    rows = {
        model: score_as_written(model, written, SMALL, train, test, centroids, seed=0).omnist_test[model]
        for model, written in as_written(SMALL).items()
    }
    return rows | {"elastic": evaluate(SMALL, train, test, 0, centroids).elastic.accuracy}


def test_every_row_of_the_theory_is_run_and_says_why():
    assert set(as_written(SMALL)) == {key for key, model in MODELS.items() if model.why}


def test_a_flat_posterior_loses_and_a_sharp_one_or_the_winner_do_not(reached):
    assert reached["theory_exponential"] < reached["elastic"] - 0.1
    assert reached["theory_winner"] > reached["theory_exponential"]
    assert reached["theory_kappa"] > reached["elastic"] - 0.1
    assert reached["theory_maximum"] > reached["elastic"] - 0.1


def test_a_ratio_of_cosines_is_as_flat_as_a_soft_max_of_them(reached):
    assert reached["theory_sphere"] < reached["elastic"] - 0.1
    assert reached["theory_zero"] < reached["elastic"] - 0.1


def test_a_pull_that_is_not_tuned_is_derived():
    rows = as_written(SMALL)
    assert {model for model, one in rows.items() if one.pull is not None} == {"theory_maximum"}
    assert rows["theory_algorithm"].bias_update == "algorithm"
