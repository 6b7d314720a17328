"""Associative retrieval: what is asked, that networks can learn it, and that the figure shows every number."""

import numpy as np
import pytest

from springback_paper.baselines.models import n_parameters
from springback_paper.baselines.recall import DeltaRetriever, ElasticRetriever, Lessons, learn, strings
from springback_paper.figures.retrieval import EXHIBIT, NETWORKS, Retrieval, draw, run, table


@pytest.fixture(scope="module")
def result():
    lessons = Lessons(steps=6, strings=4, pairs=(3, 5), every=3, tests=20)
    return run(Retrieval(lessons=lessons, rates=(1e-3, 1e-2), rate_steps=3), seeds=(0, 1))


def test_the_digit_that_followed_the_letter_is_wanted():
    characters, wanted = strings(np.random.default_rng(0), 200, 10)
    assert characters.shape == (23, 200)
    for one, digit in zip(characters.T, wanted, strict=True):
        keys, values = one[0:-3:2], one[1:-3:2]
        assert len(set(keys)) == 10
        assert (one[-3], one[-1]) == (36, 37)
        assert values[list(keys).index(one[-2])] == 26 + digit


@pytest.mark.parametrize(
    "network", [ElasticRetriever(8, 12, "unit"), ElasticRetriever(8, 12, "synapse"), DeltaRetriever(8, 12, 4)]
)
def test_all_parameters_learn(network):
    before = {name: one.detach().clone() for name, one in network.named_parameters()}
    learn(network, Lessons(steps=2, strings=8, pairs=(3,), every=2, tests=5), seed=0, tests_seed=1)
    assert all((one != before[name]).any() for name, one in network.named_parameters())


def test_the_networks_have_equally_many_parameters():
    sizes = [n_parameters(make()) for make in NETWORKS.values()]
    assert max(sizes) < 1.03 * min(sizes)


def test_every_network_seed_step_and_length_has_an_accuracy(result):
    assert result.accuracy.shape == (len(NETWORKS), 2, 2, 2)
    assert (result.steps, result.characters) == ((3, 6), (6, 10))
    assert set(result.rates) <= {1e-3, 1e-2}
    assert ((result.accuracy >= 0) & (result.accuracy <= 1)).all()


def test_the_same_seed_gives_the_same_numbers(result):
    lessons = Lessons(steps=6, strings=4, pairs=(3, 5), every=3, tests=20)
    again = run(Retrieval(lessons=lessons, rates=(1e-3, 1e-2), rate_steps=3), seeds=(1,))
    np.testing.assert_array_equal(again.accuracy[:, 0], result.accuracy[:, 1])


def test_the_figure_and_its_numbers_show_every_network(result):
    left, right = draw(result).axes
    assert [line.get_label() for line in left.get_lines()[: len(NETWORKS)]] == list(NETWORKS)
    assert list(right.get_lines()[0].get_xdata()) == [6, 10]
    numbers = table(result)
    assert {len(column) for column in numbers.values()} == {8 * len(NETWORKS)}
    assert "delta rule" in EXHIBIT.caption(result)


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ValueError, match=r"Lessons.pairs must be <= 26; got 27"):
        Lessons(pairs=(27,))
    with pytest.raises(ValueError, match=r"Retrieval.rates must have at least one value"):
        Retrieval(rates=())
