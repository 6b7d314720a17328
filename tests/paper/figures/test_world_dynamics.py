"""The observers of small random worlds."""

from dataclasses import replace

import numpy as np
import pytest

from springback.elastic import Elasticity, Exponential, prepare
from springback.files.container import read, write
from springback_paper.figures import world_dynamics
from springback_paper.figures.world_dynamics import (
    MIDDLE,
    OBSERVERS,
    WorldDynamics,
    choose,
    distance_between,
    follow,
    observer,
    point,
    run,
    watch,
    whole_history_posterior,
)

SMALL = WorldDynamics(
    beta=(0.5, 100.0), diffusion=(0.1,), memory=(5.0,), n_steps=60, n_training_streams=2, n_streams=4
)  # fmt: skip
SETTINGS = {"kappa": 16.0, "memory": 3.0, "beta": 0.5}


@pytest.fixture(scope="module")
def result():
    return run(SMALL, seed=2)


@pytest.fixture(scope="module")
def seen():
    return watch(SMALL, MIDDLE, np.random.default_rng(0))


def test_the_static_observer_is_a_soft_max_over_fixed_centres(seen):
    stream = seen
    joint = np.exp(16.0 * stream.x @ stream.centres.T)
    found = follow(observer("static", stream.centres, SETTINGS), stream.x).posterior
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_the_smoothed_observer_remembers_the_class_and_moves_no_centre(seen):
    stream = seen
    found = follow(observer("smoothed", stream.centres, SETTINGS), stream.x).posterior
    shares, total = np.zeros(4), 0.0
    for x, posterior in zip(stream.x, found, strict=True):
        joint = (shares + 0.5 / 4) / (total + 0.5) * np.exp(16.0 * stream.centres @ x)
        np.testing.assert_allclose(posterior, joint / joint.sum(), rtol=1e-9)
        shares, total = np.exp(-1 / 3) * (shares + posterior), np.exp(-1 / 3) * (total + 1)


def test_the_elastic_recursion_is_the_sum_over_the_whole_history(seen):
    stream = seen
    model = observer("elastic", stream.centres, SETTINGS)
    by_sum = whole_history_posterior(model, stream.x)
    np.testing.assert_allclose(follow(model, stream.x).posterior, by_sum, atol=1e-10)
    another = observer("elastic", stream.centres, {**SETTINGS, "memory": 3.1})
    assert np.abs(follow(another, stream.x).posterior - by_sum).max() > 1e-4


def test_without_a_past_the_whole_history_is_the_prior():
    model = prepare(Elasticity(kappa=2.0, pull=None, beta=1.0, kernel=Exponential(memory=2.0)), np.eye(3))
    joint = np.exp([2.0, 0.0, 0.0])
    np.testing.assert_allclose(whole_history_posterior(model, np.eye(3)[:1])[0], joint / joint.sum())


def test_the_exact_observer_foretells_best_and_is_at_no_distance_from_itself(result):
    exact = OBSERVERS.index("exact")
    assert (result.gain.argmax(axis=1) == exact).all()
    assert (result.distance[:, exact] == 0).all()
    assert (result.distance[:, :exact] > 0).all()
    assert (result.gain[:, 0] == 0).all()


def test_elastic_clustering_foretells_better_than_what_remembers_less_unless_all_is_new(result):
    smoothed, elastic = (OBSERVERS.index(name) for name in ("smoothed", "elastic"))
    assert result.gain[0, elastic] > result.gain[0, smoothed] + 0.5
    assert abs(result.gain[1, elastic]) < 0.1


def test_the_exact_observer_gets_wrong_what_it_expects():
    params = WorldDynamics(n_steps=100)
    errors = []
    for number in range(60):
        one = watch(params, {**MIDDLE, "beta": 2.0}, np.random.default_rng([7, number]))
        errors.append((one.exact.argmax(axis=1) != one.labels).mean() - (1 - one.exact.max(axis=1)).mean())
    assert abs(np.mean(errors)) < 3 * np.std(errors, ddof=1) / np.sqrt(60)
    assert np.std(errors, ddof=1) / np.sqrt(60) < 0.02


def test_settings_are_the_best_of_the_grid_for_each_purpose(seen):
    def scores(kappa):
        response = follow(observer("static", seen.centres, {"kappa": kappa}), seen.x)
        return response.log_density.mean(), -distance_between(response.posterior, seen.exact)

    foretelling, inferring = choose("static", [seen])
    for kappa in (4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0):
        assert scores(foretelling["kappa"])[0] >= scores(kappa)[0]
        assert scores(inferring["kappa"])[1] >= scores(kappa)[1]


def test_a_world_does_not_depend_on_the_others(result):
    alone = point(SMALL, {**MIDDLE, "beta": 100.0}, 2)
    np.testing.assert_array_equal(alone.log_likelihood.mean(axis=0), result.log_likelihood[1])
    np.testing.assert_array_equal(result.gain[0], result.gain[2])  # beta 0.5 and diffusion 0.1 are the same world


def test_the_world_in_the_middle_is_run_once_for_all_of_the_dynamics(monkeypatch):
    ran = []
    monkeypatch.setattr(world_dynamics, "point", lambda *args: ran.append(args[1]) or point(*args))
    tiny = replace(SMALL, n_steps=5, n_training_streams=1, n_streams=2)
    found = run(tiny, seed=0)
    assert ran == [MIDDLE, {**MIDDLE, "beta": 100.0}]
    np.testing.assert_array_equal(found.gain[0], found.gain[2])
    np.testing.assert_array_equal(found.gain[0], found.gain[3])


def test_the_checks_hold_and_the_record_survives_the_disk(result, tmp_path):
    assert result.recursion_error < 1e-9
    write(tmp_path / "worlds", "result", result)
    kept = read(tmp_path / "worlds", "result", type(result))
    np.testing.assert_array_equal(kept.gain, result.gain)
    assert (kept.varied, kept.observers) == (result.varied, result.observers)


def test_bad_sizes_are_refused():
    with pytest.raises(ValueError, match=r"WorldDynamics\.beta must have at least one value"):
        WorldDynamics(beta=())
    with pytest.raises(ValueError, match=r"WorldDynamics\.n_classes must be >= 2; got 1"):
        WorldDynamics(n_classes=1)
