"""The search for the parameters of the spiking network."""

from benchmarks import tuning
from springback.datasets import load_mnist
from tests.paper.figures.small_circuit import small_model


def test_points_of_the_search_are_parameters():
    middle = {name: (span.low + span.high) / 2 for name, span in tuning.TRAINING_SPACE.items()}
    stdp, shown = tuning.training_of(middle)
    assert (stdp.rate_post, shown.intensity) == (middle["rate_post"], middle["intensity"])


def test_the_search_for_streaming_uses_the_video_of_training_digits():
    trials = list(tuning.tune_streaming(small_model(), load_mnist("train"), seed=0, n_trials=2, n_digits=3))
    assert len(trials) == 2
    assert all(0 <= trial.score <= 1 for trial in trials)
