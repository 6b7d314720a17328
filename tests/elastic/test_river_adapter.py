import pickle
import random

import pytest

checks = pytest.importorskip("river.checks")

from springback.elastic.river_adapter import RiverElasticClustering  # noqa: E402


@pytest.mark.parametrize("check", list(checks.yield_checks(RiverElasticClustering(seed=0))), ids=lambda c: c.__name__)
def test_river_accepts_the_adapter(check):
    check(RiverElasticClustering(seed=0))


def test_it_learns_clusters_from_scratch_and_memory_stays_flat():
    rng = random.Random(0)
    model = RiverElasticClustering(n_clusters=2, warm_up=30, seed=0)
    kinds = [{"a": 1.0, "b": 0.1, "c": 0.0}, {"a": 0.0, "b": 0.2, "c": 1.0}]
    sizes = set()
    for seen in range(400):
        model.learn_one({key: value + rng.gauss(0, 0.05) for key, value in rng.choice(kinds).items()})
        if seen >= 30:
            sizes.add(len(pickle.dumps(model)))
    assert model.predict_one(kinds[0]) != model.predict_one(kinds[1])
    assert max(sizes) - min(sizes) < 100


def test_an_unknown_feature_joins_at_zero_and_a_missing_one_counts_as_zero():
    model = RiverElasticClustering(n_clusters=2, warm_up=2, seed=0)
    model.learn_one({"a": 1.0})
    model.learn_one({"b": 1.0})
    before = model.predict_one({"a": 1.0})
    model.learn_one({"a": 1.0, "new": 0.1})
    assert model._model.constants.by_feature.shape[0] == 3
    assert model.predict_one({"a": 1.0, "never seen": 4.0}) == before
    assert model.predict_one({}) in (0, 1)


def test_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="warm_up must be >= 5; got 3"):
        RiverElasticClustering(n_clusters=5, warm_up=3)
