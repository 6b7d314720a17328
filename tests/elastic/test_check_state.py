"""A state of another model is refused before a compiled loop takes its shapes and its place in the ring."""

import numpy as np
import pytest

from springback.elastic import (
    Elasticity,
    Exponential,
    Windowed,
    init,
    init_streams,
    prepare,
    read,
    relax,
    short_term,
    step,
    step_streams,
    track,
)

EXPONENTIAL = Exponential(memory=2.0)
WINDOW = Windowed(function=lambda lag: np.exp(-lag), frames=5)


def model(k=3, n=4, dtype=np.float64, kernel=EXPONENTIAL):
    resting = np.random.default_rng(0).uniform(size=(k, n)).astype(dtype)
    return prepare(Elasticity(pull=1.0, kernel=kernel), resting)


@pytest.mark.parametrize("kernel", [EXPONENTIAL, WINDOW], ids=["dense", "recent"])
@pytest.mark.parametrize("other", [{"k": 2}, {"n": 5}, {"dtype": np.float32}], ids=["fewer", "wider", "float32"])
def test_the_state_of_another_model_is_refused(kernel, other):
    mine, foreign = model(kernel=kernel), init(model(kernel=kernel, **other))
    uses = {
        "track in place": lambda: track(mine, foreign, np.eye(4), in_place=True),
        "track": lambda: track(mine, foreign, np.eye(4)),
        "read": lambda: read(mine, foreign, np.eye(4)),
        "step": lambda: step(mine, foreign, np.eye(4)[0]),
        "relax": lambda: relax(mine, foreign, 1.0),
        "short_term": lambda: short_term(mine, foreign),
    }
    for use in uses.values():
        with pytest.raises(ValueError, match=r"state\.\w+ must have (shape|dtype)"):
            use()


def test_what_no_init_has_made_is_refused():
    with pytest.raises(TypeError, match="state must come from `init`; got tuple"):
        track(model(), tuple(init(model())), np.eye(4), in_place=True)
    with pytest.raises(ValueError, match="state must keep a window of frames"):
        track(model(kernel=WINDOW), init(model()), np.eye(4), in_place=True)


@pytest.mark.parametrize("place", [-1, 5, 2**40])
def test_a_place_outside_of_the_ring_is_refused(place):
    mine = model(kernel=WINDOW)
    state = init(mine)
    state.position[0] = place
    with pytest.raises(ValueError, match=r"state\.position must be"):
        track(mine, state, np.eye(4), in_place=True)
    streams = init_streams(model(), 2, frames=5)
    streams.position[1] = place
    with pytest.raises(ValueError, match=r"streams\.position must lie within 0 ... 4"):
        step_streams(model(), streams, np.eye(4)[:2])


def test_the_streams_of_another_model_are_refused():
    with pytest.raises(ValueError, match=r"state\.\w+ must have shape"):
        step_streams(model(), init_streams(model(k=2), 2, frames=5), np.eye(4)[:2])
    mixed = init_streams(model(), 2, frames=5)._replace(factor=np.zeros((1, 5)))
    with pytest.raises(ValueError, match=r"streams\.factor must have 2 streams"):
        step_streams(model(), mixed, np.eye(4)[:2])
