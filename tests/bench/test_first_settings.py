"""The settings that a search tries first are those that the benchmark has drawn and picked, for every method."""

import numpy as np
import pytest

from springback.heads.known_settings import KNOWN
from springback_bench.comparison.first_settings import PICKED, compared, draws, pick
from springback_bench.comparison.methods import rival_named
from springback_bench.rounding import rounded


@pytest.mark.parametrize("name", compared())
def test_every_method_first_tries_settings_that_were_drawn(name):
    first = list(KNOWN[name]) if name in KNOWN else rival_named(name).first_settings
    assert len(first) == PICKED
    drawn = rounded(draws(name))
    assert all(one in drawn for one in first)
    assert len({str(one) for one in first}) == PICKED


def test_settings_are_picked_that_together_score_best():
    scores = np.array([[0.9, 0.8, 0.1], [0.2, 0.5, 0.7]])
    assert pick(scores, np.zeros(2), 2) == [1, 2]
    assert pick(scores, np.zeros(2), 3) == [1, 2, 0]
