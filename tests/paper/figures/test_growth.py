"""Growth with neurons and presentations, of small networks on a few digits."""

import io

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.spiking.fitting import train_model
from springback.spiking.presets import springback_2026
from springback_paper.figures import growth
from springback_paper.figures.growth import Growth, run
from springback_paper.figures.three_readouts import READOUTS, read_network
from springback_paper.run_scope import Scope

FEW = Growth(neurons=(10, 20, 1600), shares=(0.5,), n_train=120, n_labelling=100, n_test=6)
LAST = springback_2026().epochs
"""Where the small networks end: after half an epoch, one, two and the last; the large one has one epoch more."""


@pytest.fixture(scope="module")
def train():
    return load_mnist("train")[:200]


@pytest.fixture(scope="module")
def test():
    return load_mnist("train")[5000:5050]


@pytest.fixture(scope="module")
def result(train, test):
    return run(FEW, train, test, seed=1)


def test_the_last_point_of_a_size_is_the_network_as_it_is_trained_elsewhere(result, train, test):
    model = train_model(train[:120], springback_2026(n_neurons=20), seed=1)
    network = read_network(model, train[:100])
    still, video = network.recognise(test[:6], seed=1), network.follow(make_omnist(test[:6], seed=1), seed=1)
    for place, readout in enumerate(READOUTS):
        assert result.accuracy[1, LAST, 0, place] == still[readout]
        assert result.accuracy[1, LAST, 1, place] == video[readout].accuracy


def test_points_are_shares_of_an_epoch_the_first_two_epochs_and_the_last(result):
    assert result.presentations[:2].tolist() == [60, 120]
    assert result.presentations[LAST] == 120 * LAST
    assert result.presentations[-1] == 120 * springback_2026(n_neurons=1600).epochs == 120 * (LAST + 1)
    assert np.isnan(result.accuracy[:2, LAST + 1 :]).all()
    assert np.isnan(result.accuracy[2]).any(axis=(1, 2)).tolist() == [place == LAST for place in range(LAST + 2)]
    assert np.isfinite(result.accuracy[:2, : LAST + 1]).all()


def test_growth_is_drawn_at_its_numbers(result):
    figure = growth.draw(result)
    drawn = [tuple(line.get_ydata()) for line in figure.axes[0].lines]
    ends = [*result.accuracy[:2, LAST, 1, 0], result.accuracy[2, -1, 1, 0]]
    assert tuple(100 * np.array(ends)) in drawn
    figure.savefig(io.BytesIO(), format="png")
    table = growth.table(result)
    assert len(table["accuracy"]) == result.accuracy.size
    assert np.unique(table["neurons"]).tolist() == [10, 20, 1600]


def test_only_a_full_run_has_the_largest_networks():
    assert growth.given(Scope(full=True))["params"].neurons[-1] == 6400
    assert growth.given(Scope())["params"].neurons == (25, 100, 400)
    assert growth.given(Scope(neurons=40, limit=200))["params"].neurons == (25, 40)
