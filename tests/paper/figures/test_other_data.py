"""Other data with the same settings, with a few neurons on a few images."""

import io

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback.streaming.records import NOISE_LABEL
from springback_paper.figures import other_data
from springback_paper.figures.other_data import BOTH, CLOTHES, DIGITS, ON, OtherData, event_answers, run
from springback_paper.figures.table import csv_text
from springback_paper.figures.three_readouts import read_network
from tests.paper.figures.small_circuit import small_model

FEW = OtherData(n_test=8, n_labelling=200, neurons=20)


@pytest.fixture(scope="module")
def train():
    return load_mnist("train")[:200]


@pytest.fixture(scope="module")
def test():
    return load_mnist("train")[5000:5050]


@pytest.fixture(scope="module")
def result(train, test):
    return run(FEW, small_model(), train, test, train, test, seed=0)


def test_frames_are_scored_where_they_show_an_object(result, train, test):
    network, video = read_network(small_model(), train), make_omnist(test[:8], seed=0)
    predicted = network.follow(video, seed=0)["hard labels"].predicted
    shown = video.labels != NOISE_LABEL
    found = result.accuracy[result.sources.index(DIGITS), 1, 0]
    assert found == np.mean(predicted[shown] == video.labels[shown])


def test_the_last_answer_holds_while_nothing_changes(train, test):
    network = read_network(small_model(), train)
    video = make_omnist(test[:8], seed=0)
    answers = event_answers(network, video, FEW, "on", adapts=False, seed=0)["hard labels"]
    assert len(answers) == len(video)
    first = np.flatnonzero(answers != NOISE_LABEL)
    assert len(first)
    assert (answers[first[0] :] != NOISE_LABEL).all()


def test_every_source_has_numbers_and_events_have_no_still_images(result):
    assert ((result.accuracy >= 0) & (result.accuracy <= 1)).all()
    still = dict(zip(result.sources, np.isnan(result.still), strict=True))
    assert still == {DIGITS: False, ON: True, BOTH: True, CLOTHES: False}
    assert csv_text(other_data.table(result)).count("\n") == 1 + result.accuracy.size
    assert other_data.EXHIBIT.caption(result)
    other_data.draw(result).savefig(io.BytesIO(), format="png")
