"""Elastic layers inside a network: each choice of layers is searched, followed, drawn and told."""

import numpy as np
import pytest

from springback.data import load_mnist
from springback_paper.figures.hidden import EXHIBIT, HiddenLayers, draw, run, table
from springback_paper.tasks.baselines import BaselineOmnist, train_still_network


@pytest.fixture(scope="module")
def result():
    digits = load_mnist("train")
    mlp = train_still_network(BaselineOmnist(model="mlp", trained_on="mnist", n_hidden=20, epochs=2), digits[:1000], 0)
    params = HiddenLayers(practice_images=4, test_images=4, streams=4, trials=2)
    return run(params, mlp, digits[3000:], digits[4000:], seeds=(0, 1))


def test_every_choice_of_layers_has_an_accuracy_on_each_video_and_settings(result):
    assert result.elastic[:5] == ("none", "hidden", "head", "head and hidden", "all")
    assert result.elastic[5:10] == ("none", "first", "second", "hidden", "head")
    assert result.elastic[10:] == ("head and first", "head and second", "head and hidden", "all")
    assert result.accuracy.shape == (14, 2)
    assert (result.accuracy > 0.05).all()
    assert result.settings[0] == ""
    assert result.settings[-1].count("pull") == 4


def test_the_choice_that_counts_is_the_best_on_training_video(result):
    for network in ("MLP", "CNN"):
        without, within = (result.best(network, hidden=one) for one in (False, True))
        assert result.elastic[without] in ("none", "head")
        assert result.elastic[within] not in ("none", "head")
        others = [at for at, one in enumerate(result.networks) if one == network]
        assert max(result.practice[without], result.practice[within]) == result.practice[others].max()


def test_the_figure_and_its_numbers_show_every_choice(result):
    (panel,) = draw(result).axes
    assert [label.get_text() for label in panel.get_yticklabels()][3] == "MLP: head and hidden"
    numbers = table(result)
    assert {len(column) for column in numbers.values()} == {28}
    np.testing.assert_array_equal(np.asarray(numbers["accuracy"]).reshape(14, 2), result.accuracy)
    assert "MLP: " in EXHIBIT.caption(result)
