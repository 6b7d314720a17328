from dataclasses import replace

import numpy as np
import pytest

from springback.data import load_mnist, make_omnist
from springback_paper.baselines import classify
from springback_paper.catalogue import catalogue_of
from springback_paper.run_scope import Scope
from springback_paper.runner.task import with_needs
from springback_paper.tasks.baselines import BaselineOmnist, train_model
from springback_paper.tasks.descent import RATES, DescentRates, evaluate_at_best, try_rates

SMALL = BaselineOmnist(model="rnn", trained_on="omnist", optimiser="sgd", n_hidden=10, lanes=4)


@pytest.fixture(scope="module")
def digits():
    return load_mnist("train")


def test_each_rate_is_scored_on_digits_that_were_not_learned_from(digits, monkeypatch):
    taught = []

    def remember(params, train, seed):
        taught.append((params.learning_rate, train))
        return train_model(params, train, seed)

    monkeypatch.setattr("springback_paper.tasks.descent.train_model", remember)
    found = try_rates(SMALL, (1e-3, 0.3), digits[:200], seed=0)
    assert [rate for rate, _ in taught] == [1e-3, 0.3]
    for _, train in taught:
        np.testing.assert_array_equal(train.pixels, digits.pixels[:180])
    assert (found.n_train, found.n_held_out) == (180, 20)
    assert found.accuracies[1] > found.accuracies[0]
    assert found.best == 0.3


def test_the_model_with_a_tuned_rate_is_trained_at_the_best(digits):
    tried = DescentRates(model="rnn", rates=(1e-3, 0.3), accuracies=(0.1, 0.6), n_train=1, n_held_out=1)
    train, test = digits[:200], digits[50_000:50_040]
    reached = evaluate_at_best(SMALL, tried, train, test, seed=0)
    model = train_model(replace(SMALL, learning_rate=0.3), train, 0)
    video = make_omnist(test, seed=0)
    assert reached.omnist_test == {"rnn_omnist_sgd_tuned": (classify(model, video) == video.labels).mean()}


def test_a_full_run_has_the_papers_rate_for_each_network_and_one_search_for_all_seeds():
    catalogue = catalogue_of(Scope(full=True, seeds=(3, 4)))
    known = {task.name: task for task in catalogue.tasks}
    for model in ("cnn_mnist", "cnn_omnist", "rnn_omnist", "lstm_omnist"):
        params = known[f"{model}_sgd-4"].params["params"]
        assert (params.optimiser, params.learning_rate) == ("sgd", 1e-3)
    for model in ("cnn_omnist", "rnn_omnist", "lstm_omnist"):
        search = f"{model}_sgd_rates-3"
        assert known[search].params["rates"] == RATES
        assert known[f"{model}_sgd_tuned-4"].needs == {"tried": search}
        assert f"{model}_sgd_rates-4" not in known
        wanted = catalogue.choose([f"{model}_sgd_tuned"])
        assert search in {task.name for task in with_needs(wanted, catalogue.tasks)}
