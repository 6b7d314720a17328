import pickle
import random
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

checks = pytest.importorskip("river.checks")

from springback.elastic.river_adapter import RiverElasticClustering  # noqa: E402
from springback.streaming.pace import time_now  # noqa: E402


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


def warmed_up(**more):
    model = RiverElasticClustering(n_clusters=2, warm_up=4, seed=0, **more)
    for x in ({"a": 1.0, "b": 0.1}, {"a": 0.1, "b": 1.0}, {"a": 1.0}, {"b": 1.0}):
        model.learn_one(x)
    return model


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1.0", 1j])
def test_an_observation_that_is_no_number_is_refused_and_changes_nothing(warm, value):
    model = warmed_up() if warm else RiverElasticClustering(n_clusters=2, warm_up=4, seed=0)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"x\['b'\] must be a finite number \(leave the feature out where it is missi"):
        model.learn_one({"new": 1.0, "b": value})
    with pytest.raises(ValueError, match=r"x\['b'\] must be a finite number"):
        model.predict_one({"b": value})
    assert pickle.dumps(model) == before
    assert pickle.dumps(warmed_up()) == pickle.dumps(warmed_up())


def test_near_silent_and_huge_observations_are_taken():
    plain, scaled = warmed_up(), warmed_up()
    for scale in (1e-320, 1e-300, 1e300):
        plain.learn_one({"a": 1.0})
        scaled.learn_one({"a": scale})
        assert plain.predict_one({"a": 1.0, "b": 0.9}) == scaled.predict_one({"a": scale, "b": 0.9 * scale})


def test_observations_can_carry_their_time():
    dated = RiverElasticClustering(n_clusters=2, warm_up=2, seed=0)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    for seconds, x in ((0, {"a": 1.0}), (0.5, {"b": 1.0}), (9.0, {"a": 1.0})):
        dated.learn_one(x, time=start + timedelta(seconds=seconds))
    clock, pace = dated._state.clock[:1], dated._state.clock[None, 1:]
    assert clock == 1 + 17  # the usual step is half a second
    assert time_now(pace, clock) == start.timestamp() + 9.0
    before = pickle.dumps(dated)
    with pytest.raises(ValueError, match=r"time must be >= .*, the last one"):
        dated.learn_one({"a": 1.0}, time=start)
    assert pickle.dumps(dated) == before
    half = RiverElasticClustering(n_clusters=2, warm_up=2, seed=0)
    half.learn_one({"a": 1.0}, time=3.0)
    with pytest.raises(ValueError, match="time must be given with every observation of the warm-up, or with none"):
        half.learn_one({"a": 1.0})


def test_it_names_the_argument_that_was_typed():
    with pytest.raises(ValueError, match=r"^memory must be > 0; got -1"):
        RiverElasticClustering(memory=-1)


def test_a_step_answers_and_moves_and_a_reset_returns_to_rest():
    kinds = [{"a": 1.0, "b": 0.1}, {"a": 0.1, "b": 1.0}]
    stepped, learned = (RiverElasticClustering(n_clusters=2, warm_up=4, seed=0, pull=3.0) for _ in range(2))
    answers = [stepped.step(kinds[i % 2]) for i in range(10)]
    for i in range(10):
        learned.learn_one(kinds[i % 2])
    assert answers[:4] == [0, 0, 0, 0]
    assert answers[4] == answers[6] != answers[5] == answers[7]
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(stepped._state, learned._state, strict=True))
    stored = abs(stepped._state.stored * stepped._state.scale).max()
    stepped.relax(2.0)
    assert abs(stepped._state.stored * stepped._state.scale).max() == pytest.approx(stored * 0.3679, rel=1e-3)
    stepped.reset()
    assert not stepped._state.stored.any()
