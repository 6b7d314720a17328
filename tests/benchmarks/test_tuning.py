"""The search for the parameters that the spiking network is trained with."""

from benchmarks import tuning


def test_points_of_the_search_are_parameters():
    middle = {name: (span.low + span.high) / 2 for name, span in tuning.TRAINING_SPACE.items()}
    stdp, shown = tuning.training_of(middle)
    assert (stdp.rate_post, shown.intensity) == (middle["rate_post"], middle["intensity"])


def test_the_search_tries_points_of_its_space_and_yields_their_scores():
    trials = list(tuning.search(tuning.TRAINING_SPACE, lambda at: at["weight_sum"], n_trials=3, seed=0))
    assert len(trials) == 3
    for values, score in trials:
        assert score == values["weight_sum"]
        assert all(span.low <= values[name] <= span.high for name, span in tuning.TRAINING_SPACE.items())
