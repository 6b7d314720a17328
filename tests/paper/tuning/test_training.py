"""The search for the parameters that the spiking network is trained with."""

from springback.heads.search import Range
from springback_paper.tuning import training


def test_points_of_the_search_are_parameters():
    middle = {name: (span.low + span.high) / 2 for name, span in training.TRAINING_SPACE.items()}
    stdp, shown = training.training_of(middle)
    assert (stdp.rate_post, shown.intensity) == (middle["rate_post"], middle["intensity"])


def test_the_search_tries_points_of_its_space_and_gives_their_scores(monkeypatch):
    monkeypatch.setattr(training, "score_training", lambda at, digits, *, seed: at["weight_sum"] + digits + seed)
    trials = training.tune_training(1000, seed=0, n_trials=3)
    assert len(trials) == 3
    for values, score in trials:
        assert score == values["weight_sum"] + 1000
        for name, span in training.TRAINING_SPACE.items():
            assert isinstance(span, Range)
            assert span.low <= values[name] <= span.high
