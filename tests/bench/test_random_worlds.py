import numpy as np
import pytest

from springback.elastic import Elasticity, Exponential, prepare
from springback_bench.speed.random_worlds import RandomWorlds, World, make_stream, run
from springback_bench.speed.world_models import MODELS, WorldStream, mixture_log_density, score


def test_the_exact_observer_is_never_beaten_on_average():
    params = RandomWorlds(n_steps=150)
    world = World(name="middling")
    for number in range(5):
        stream = make_stream(params, world, np.random.default_rng([5, number]))
        for model in ("static mixture", "elastic clustering"):
            best = max(score(MODELS[model], stream, s, None) for s in MODELS[model].settings())
            assert stream.exact.mean() > best


def test_elastic_clustering_is_scored_as_the_mixture_of_its_own_centroids():
    stream = make_stream(RandomWorlds(n_steps=60), World(name="any"), np.random.default_rng(0))
    settings = {"kappa": 16.0, "beta": 0.5, "memory": 5.0}
    ours = MODELS["elastic clustering"].log_density(stream, settings, None)
    params = Elasticity(kappa=16.0, pull=None, beta=0.5, kernel=Exponential(memory=5.0))
    gain, prior = prepare(params, stream.resting, stream.prior).constants.gain, stream.prior
    short, share, total = np.zeros_like(stream.resting), np.zeros(len(prior)), 0.0
    for t, x in enumerate(stream.x):
        centres = stream.resting + short
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        weights = (share + 0.5 * prior) / (total + 0.5)
        assert mixture_log_density(x[None], centres[None], weights[None], 16.0)[0] == pytest.approx(ours[t], abs=1e-9)
        q = weights * np.exp(16.0 * centres @ x)
        q /= q.sum()
        decay = np.exp(-1 / 5.0)
        short, share, total = decay * (short + (gain * q)[:, None] * x), decay * (share + q), decay * (total + 1)


def test_elastic_clustering_wins_in_random_worlds_and_falls_back_to_static_when_all_is_new():
    worlds = (World(name="random", beta=0.5), World(name="very fast", beta=500.0))
    rows = run(RandomWorlds(worlds=worlds, n_steps=120, n_training_streams=1, n_streams=4, with_river=False), seed=3)
    table = {(row.world, row.model): row for row in rows}
    for other in ("static mixture", "online k-means", "moving averages"):
        assert table["random", "elastic clustering"].log_likelihood > table["random", other].log_likelihood
    assert abs(table["very fast", "elastic clustering"].gain) < 0.05


def test_elastic_clustering_loses_to_learned_dynamics_once_these_have_been_seen_for_long():
    world = World(name="regular", kind="regular", memory=20.0, diffusion=0.05)
    params = RandomWorlds(n_steps=400)
    stream = make_stream(params, world, np.random.default_rng(0))
    learner = MODELS["learned linear dynamics"]
    start = np.zeros((16, 8))
    learned = learner.log_density(stream, {"trust": 1.0, "share": 0.9, "kappa": 128.0}, start)
    ours = MODELS["elastic clustering"]
    elastic = max(ours.log_density(stream, s, None)[-100:].mean() for s in ours.settings())
    assert learned[-100:].mean() > elastic + 0.3
    assert learned[:60].mean() < elastic, "before that, it cannot know"


def test_the_same_seed_gives_the_same_table():
    small = RandomWorlds(
        worlds=(World(name="one"),), n_steps=30, n_training_streams=1, n_streams=2, with_river=False
    )  # fmt: skip
    assert run(small, seed=1) == run(small, seed=1)
    assert run(small, seed=1) != run(small, seed=2)


def test_river_starts_from_the_same_centroids():
    pytest.importorskip("river")
    stream = make_stream(RandomWorlds(n_steps=3), World(name="any"), np.random.default_rng(0))
    one = WorldStream(stream.x[:1], stream.resting, stream.prior, None)
    assert score(MODELS["river KMeans"], one, {"halflife": 0.1, "kappa": 8.0}, None) == pytest.approx(
        score(MODELS["static mixture"], one, {"kappa": 8.0}, None)
    )


def test_bad_worlds_are_refused():
    with pytest.raises(ValueError, match=r"World\.kind must be one of"):
        World(name="x", kind="flat")
    with pytest.raises(ValueError, match=r"World\.beta must be > 0"):
        World(name="x", beta=0.0)
