"""The parameters of elastic clustering: their defaults, and where a threshold begins."""

import dataclasses

import numpy as np
import pytest

from springback.elastic import Elasticity, Exponential, Windowed, init, prepare, short_term, track

DEFAULTS = {
    "pull": 1.0,
    "memory": 2.0,
    "unit_inputs": True,
    "likelihood": "exponential",
    "inference": None,
    "kappa": 1.0,
    "beta": None,
    "weight_dependence": 1.0,
    "bias_rule": "sphere",
    "novelty_threshold": None,
    "bias_update": "theorem",
    "kernel": None,
    "pull_threshold": 0.0,
}


def test_every_default_is_the_documented_one():
    assert dataclasses.asdict(Elasticity()) == DEFAULTS
    assert Exponential(memory=3.0).odds == 1.0


@pytest.mark.parametrize("kernel", [Exponential(memory=2.0), Windowed(function=Exponential(memory=2.0), frames=50)])
@pytest.mark.parametrize(("threshold", "pulls"), [(0.5, False), (0.49, True)])
def test_a_posterior_of_just_the_threshold_does_not_pull(kernel, threshold, pulls):
    twins = np.array([[1.0, 0.0], [1.0, 0.0]])
    model = prepare(Elasticity(pull=1.0, kernel=kernel, pull_threshold=threshold), twins)
    x = np.array([[0.6, 0.8], [0.6, 0.8], [0.6, 0.8]])
    state, response = track(model, init(model), x)
    assert bool(short_term(model, state).any()) is pulls
    assert bool((response.similarity[1:] != response.similarity[0]).any()) is pulls
