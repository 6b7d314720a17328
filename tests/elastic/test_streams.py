import numpy as np
import pytest

from springback.elastic import (
    Elasticity,
    Exponential,
    frames_needed,
    init,
    init_streams,
    prepare,
    short_term,
    step_streams,
    track,
)


def a_world(dtype=np.float64, **options):
    rng = np.random.default_rng(0)
    resting = np.abs(rng.normal(size=(6, 12)))
    params = Elasticity(**{"kappa": 12.0, "pull": 3.0, "kernel": Exponential(memory=2.0), **options})
    frames = np.abs(rng.normal(size=(5, 80, 12))) * (rng.random((5, 80, 12)) < 0.6)
    return prepare(params, resting.astype(dtype)), frames.astype(dtype)


@pytest.mark.parametrize("options", [{}, {"beta": 1.0}, {"weight_dependence": -0.2}, {"likelihood": "linear"}], ids=str)
def test_streams_equal_the_dense_form_within_the_stated_bound(options):
    model, frames = a_world(**options)
    streams = init_streams(model, 5, frames_needed(model, error=1e-10))
    batched = np.stack([step_streams(model, streams, frames[:, t]).posterior for t in range(80)], axis=1)
    for s in range(5):
        _, alone = track(model, init(model), frames[s])
        np.testing.assert_allclose(batched[s], alone.posterior, atol=1e-7)


def test_cutting_the_window_costs_no_more_than_the_bound():
    model, frames = a_world(kappa=1e-4)
    full, _ = track(model, init(model), frames[0])
    for window in (3, 6, 12):
        streams = init_streams(model, 1, window)
        for x in frames[0]:
            step_streams(model, streams, x[None])
        order = (streams.position[0, 0] - 1 - np.arange(window)) % window
        weight = np.exp(-np.arange(window) / 2.0)[:, None] * streams.factor[0, order][:, None]
        kept = 3.0 * (weight * streams.posterior[0, order]).T @ streams.inputs[0, order]
        gap = np.linalg.norm(short_term(model, full) - kept, axis=1).max()
        bound = 3.0 * np.exp(-window / 2.0) / (1 - np.exp(-1 / 2.0))
        assert 0 < gap <= bound


def test_frames_needed_is_the_smallest_window_within_the_bound():
    model, _ = a_world()
    for error in (1e-3, 1e-6):
        d = frames_needed(model, error)
        bound = [3.0 * np.exp(-(w + 1) / 2.0) / (1 - np.exp(-0.5)) for w in (d, d - 1)]
        assert bound[0] <= error < bound[1]


def test_some_streams_may_wait_while_others_go_on():
    model, frames = a_world()
    streams = init_streams(model, 5)
    step_streams(model, streams, frames[:, 0])
    for t in (1, 2):
        step_streams(model, streams, frames[[1, 3], t], which=np.array([1, 3]))
    last = step_streams(model, streams, frames[:, 3], times=np.full(5, 3.0)).posterior
    _, busy = track(model, init(model), frames[1, :4])
    _, waiting = track(model, init(model), frames[0, [0, 3]], [0.0, 3.0])
    np.testing.assert_allclose(last[1], busy.posterior[-1], atol=1e-5)
    np.testing.assert_allclose(last[0], waiting.posterior[-1], atol=1e-5)


def test_a_thousand_streams_of_400_centroids_and_784_features_fit_in_one_gigabyte():
    model = prepare(Elasticity(pull=3.0, kernel=Exponential(memory=2.0)), np.ones((400, 784), np.float32))
    streams = init_streams(model, 1000, frames=40)
    assert sum(part.nbytes for part in streams) < 0.3e9


def test_streams_that_do_not_exist_are_refused():
    model, frames = a_world()
    streams = init_streams(model, 2)
    with pytest.raises(ValueError, match="which must name different streams"):
        step_streams(model, streams, frames[:2, 0], which=np.array([0, 0]))
    with pytest.raises(ValueError, match="which must name different streams"):
        step_streams(model, streams, frames[:1, 0], which=np.array([2]))
    with pytest.raises(ValueError, match="shape"):
        step_streams(model, streams, frames[:, 0])
