"""The search behind the preset `springback_2026`: training, then streaming, on MNIST training digits alone.

Training is scored by the accuracy on held-out training digits of a network trained on others; streaming by the accuracy
on a video made of held-out training digits. No test digit is touched.
"""

from collections.abc import Iterator
from dataclasses import replace

from springback.datasets import make_omnist
from springback.paper.tuning.search import Range, Trial, search
from springback.records import Images
from springback.spiking.fitting import label_model, untrained_model
from springback.spiking.model import SpikingModel
from springback.spiking.params import Circuit, LongTermStdp, Presentation, ShortTermStdp
from springback.spiking.presets import Preset, streaming_at
from springback.spiking.recognition import follow_video, recognise_images
from springback.spiking.training import begin_training, learned, train

TRAINING_SPACE = {
    "rate_post": Range(1e-2, 8e-2, log=True),
    "rate_pre": Range(4e-5, 4e-4, log=True),
    "theta_step_mv": Range(0.015, 0.1, log=True),
    "weight_sum": Range(70, 140),
    "intensity": Range(1.5, 3.0),
    "tau_pre_ms": Range(8, 40, log=True),
    "tau_post_2_ms": Range(15, 120, log=True),
}
STREAMING_SPACE = {
    "pull": Range(0.02, 1.0, log=True),
    "c": Range(-1.0, 0.0),
    "tau_short_term_ms": Range(200, 3000, log=True),
    "tau_trace_ms": Range(10, 150, log=True),
    "efficacy_max": Range(1.0, 20.0, log=True),
    "threshold_shift_mv": Range(-8.0, 1.0),
    "intensity": Range(2.0, 4.0),
}

TESTING = Presentation(intensity=3.0, spikes_min=10)
_RUNAWAY_SPIKES = 150


def training_of(values: dict[str, float]) -> tuple[LongTermStdp, Presentation]:
    """The parameters of training at a point of `TRAINING_SPACE`."""
    rest = {name: value for name, value in values.items() if name != "intensity"}
    return LongTermStdp(**rest), Presentation(intensity=values["intensity"])  # type: ignore[arg-type]


def streaming_of(values: dict[str, float]) -> tuple[ShortTermStdp, Presentation]:
    """The parameters of streaming at a point of `STREAMING_SPACE`."""
    rest = {name: value for name, value in values.items() if name != "intensity"}
    return ShortTermStdp(**rest), streaming_at(values["intensity"])  # type: ignore[arg-type]


def score_training(values: dict[str, float], digits: Images, *, seed: int, n_train: int = 30_000) -> float:
    """Accuracy, in percent, on training digits 50,000 ... 54,999 after learning from the first `n_train`."""
    circuit = Circuit()
    stdp, presentation = training_of(values)
    state = begin_training(circuit, stdp, seed=seed)
    for start in range(0, n_train, 1000):
        part = digits.pixels[start : start + 1000]
        counts, state = train(state, part, circuit=circuit, stdp=stdp, presentation=presentation, seed=seed)
        if counts.sum(axis=1).mean() > _RUNAWAY_SPIKES:
            return 0.0
    preset = Preset(name="trial", circuit=circuit, long_term=stdp, training=presentation, testing=TESTING)
    model = replace(untrained_model(preset, seed=seed), weights=learned(state, stdp, circuit))
    labelled = label_model(model, digits[:10_000])
    return recognise_images(labelled, digits[50_000:55_000], seed=seed).accuracy


def tune_training(digits: Images, *, seed: int, n_trials: int) -> Iterator[Trial]:
    """Search the parameters of training, yielding each trial."""
    return search(TRAINING_SPACE, lambda at: score_training(at, digits, seed=seed), n_trials=n_trials, seed=seed)


def tune_streaming(
    model: SpikingModel, digits: Images, *, seed: int, n_trials: int, n_digits: int = 400
) -> Iterator[Trial]:
    """Search the parameters of streaming for a trained network, yielding each trial."""
    video = make_omnist(digits[50_000 : 60_000 : 10_000 // n_digits], seed=seed)

    def score(at: dict[str, float]) -> float:
        short_term, presentation = streaming_of(at)
        return follow_video(model.streaming_as(presentation, short_term), video, seed=seed).accuracy

    return search(STREAMING_SPACE, score, n_trials=n_trials, seed=seed)
