"""The ladder from elastic clustering to the circuit, with a few centroids on a few digits."""

import io

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback_paper.figures import ladder
from springback_paper.figures.ladder import MEASURES, RUNGS, Ladder, run, with_equal_sums
from springback_paper.figures.table import csv_text
from springback_paper.figures.three_readouts import read_network
from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.run_scope import Scope
from springback_paper.tasks import elastic
from tests.paper.figures.small_circuit import small_model

FEW = Ladder(n_test=12, n_labelling=300, n_practice=10, n_homeostasis=40)


@pytest.fixture(scope="module")
def train():
    return load_mnist("train")[:400]


@pytest.fixture(scope="module")
def test():
    return load_mnist("train")[5000:5100]


@pytest.fixture(scope="module")
def centroids(train):
    return {power: elastic.find_centroids(ElasticOmnist(n_clusters=40, power=power), train, 0) for power in (0.5, 1.0)}


@pytest.fixture(scope="module")
def result(train, test, centroids):
    return run(FEW, small_model(), centroids[1.0], centroids[0.5], train, test, seed=0)


def right(result, rung):
    return dict(zip(MEASURES, result.accuracy[result.rungs.index(rung)], strict=True))


def test_the_first_rung_is_elastic_clustering_as_in_the_comparison(result, train, test, centroids):
    params = ElasticOmnist(n_clusters=40, threshold_images=10)
    expected = elastic.evaluate(params, train[:300], test[:12], 0, centroids[0.5])
    found = right(result, ladder.CLUSTERING)
    assert found["still digits"] == expected.still_accuracy
    practice = elastic.practice_video(train, 10, 0)
    named = elastic.name_centroids(params, centroids[0.5].resting, train[:300])
    video = make_omnist(test[:12], seed=0)
    score = elastic.score_model(named.clustering_.model_, named, practice, video, 0.5)
    assert found["video"] == score.accuracy
    assert found["nothing hidden"] == score.by_rows_hidden["0"]


def test_the_circuit_has_weights_of_equal_length_and_one_threshold_and_is_otherwise_as_it_was(result, train, test):
    circuit = ladder._circuit(small_model(), small_model().weights.resting)
    resting, theta = circuit.weights
    np.testing.assert_allclose(np.linalg.norm(resting, axis=0), np.linalg.norm(resting[:, 0]), rtol=1e-5)
    np.testing.assert_array_equal(theta, theta[0])
    again = ladder._circuit(circuit, circuit.weights.resting)
    np.testing.assert_allclose(again.weights.resting, resting, rtol=1e-6)
    network, video = read_network(circuit, train[:300]), make_omnist(test[:12], seed=0)
    scores = network.follow(video, seed=0)
    still = network.recognise(test[:12], seed=0)
    for rung, readout in ((ladder.CIRCUIT, "hard labels"), (ladder.VOTES, "votes"), (ladder.LIKELIEST, "likeliest")):
        assert right(result, rung)["still digits"] == still[readout]
        assert right(result, rung)["video"] == scores[readout].accuracy
        assert right(result, rung)["noise"] == scores[readout].by_rows_hidden["noise"]


def test_learned_thresholds_are_higher_where_neurons_fire_more_and_their_mean_stays(train):
    circuit = ladder._circuit(small_model(), small_model().weights.resting)
    before = read_network(circuit, train[:200]).mean_counts.sum(axis=0)
    changed = with_equal_sums(circuit, Ladder(n_homeostasis=200, theta_step_mv=0.05), train, seed=0)
    resting, theta = changed.weights
    np.testing.assert_allclose(resting.sum(axis=0), circuit.weights.resting.sum(axis=0).mean(), rtol=1e-5)
    assert theta.mean() == pytest.approx(circuit.weights.theta.mean(), rel=1e-5)
    assert theta.std() > 0
    assert len(before) == len(theta)


def test_every_rung_has_numbers_and_is_compared_with_the_one_it_changes(result):
    assert result.rungs == RUNGS
    assert ((result.accuracy >= 0) & (result.accuracy <= 1)).all()
    table = ladder.table(result)
    compared = dict(zip(table["rung"], table["compared_with"], strict=True))
    assert compared[ladder.BRIGHTNESS] == ladder.CLUSTERING
    assert compared[ladder.CIRCUIT] == ladder.NEURONS
    assert {compared[rung] for rung in (ladder.SUMS, ladder.VOTES, ladder.LIKELIEST)} == {ladder.CIRCUIT}
    assert csv_text(table).count("\n") == 1 + len(RUNGS) * len(MEASURES)
    assert ladder.EXHIBIT.caption(result)


def test_the_ladder_is_drawn_at_its_numbers(result):
    figure = ladder.draw(result)
    for column, panel in enumerate(figure.axes):
        np.testing.assert_allclose(panel.lines[0].get_xdata(), 100 * result.accuracy[:7, column])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(RUNGS)
    figure.savefig(io.BytesIO(), format="png")


def test_a_full_run_has_every_test_digit_and_its_centroids_are_those_of_the_comparison():
    task = ladder.EXHIBIT.task(Scope(full=True, seeds=(3,)))
    assert task.params["params"].n_test == 10_000
    assert task.needs == {"model": "spiking-3", "centroids": "centroids_1-3", "root_centroids": "centroids_0.5-3"}
    assert ladder.EXHIBIT.task(Scope()).params["params"].n_test < 1000
