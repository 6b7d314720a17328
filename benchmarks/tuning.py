"""Search the parameters of training of `springback_2026`; `springback tune` searches those of streaming.

A point is scored by the accuracy on held-out training digits of a network trained on others. No test digit is touched.
The preset itself was found in the same space by a random search that drew one point in four from the whole space and
the others near the best so far.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import optuna

from springback.paper.tuning.spiking import Range
from springback.records import Images
from springback.spiking.fitting import label_model, untrained_model
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.presets import Preset
from springback.spiking.recognition import recognise_images
from springback.spiking.training import init_training, learned, train

TRAINING_SPACE = {
    "rate_post": Range(1e-2, 8e-2, log=True),
    "rate_pre": Range(4e-5, 4e-4, log=True),
    "theta_step_mv": Range(0.015, 0.1, log=True),
    "weight_sum": Range(70, 140),
    "intensity": Range(1.5, 3.0),
    "tau_pre_ms": Range(8, 40, log=True),
    "tau_post_2_ms": Range(15, 120, log=True),
}

TESTING = Presentation(intensity=3.0, spikes_min=10)
_RUNAWAY_SPIKES = 150


def training_of(values: dict[str, float]) -> tuple[LongTermStdp, Presentation]:
    """The parameters of training at a point of `TRAINING_SPACE`."""
    rest = {name: value for name, value in values.items() if name != "intensity"}
    return LongTermStdp(**rest), Presentation(intensity=values["intensity"])  # type: ignore[arg-type]


class Trial(NamedTuple):
    """One point that was tried, and how it scored (higher is better)."""

    values: dict[str, float]
    score: float


def score_training(values: dict[str, float], digits: Images, *, seed: int, n_train: int = 30_000) -> float:
    """Accuracy on training digits 50,000 ... 54,999 after learning from the first `n_train`."""
    circuit = Circuit()
    stdp, presentation = training_of(values)
    state = init_training(circuit, stdp, seed=seed)
    for start in range(0, n_train, 1000):
        part = digits.pixels[start : start + 1000]
        state, counts = train(state, part, circuit=circuit, stdp=stdp, presentation=presentation, seed=seed)
        if counts.sum(axis=1).mean() > _RUNAWAY_SPIKES:
            return 0.0
    preset = Preset(name="trial", circuit=circuit, long_term=stdp, training=presentation, testing=TESTING)
    model = replace(untrained_model(preset, seed=seed), weights=learned(state, stdp, circuit))
    labelled = label_model(model, digits[:10_000])
    return recognise_images(labelled, digits[50_000:55_000], seed=seed).accuracy


def search(
    space: Mapping[str, Range], score: Callable[[dict[str, float]], float], *, n_trials: int, seed: int
) -> Iterator[Trial]:
    """Try points of a space, yielding each as it is scored."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    for _ in range(n_trials):
        trial = study.ask()
        values = {name: trial.suggest_float(name, span.low, span.high, log=span.log) for name, span in space.items()}
        reached = score(values)
        study.tell(trial, reached)
        yield Trial(values, reached)


def tune_training(digits: Images, *, seed: int, n_trials: int) -> Iterator[Trial]:
    """Search the parameters of training, yielding each trial."""
    return search(TRAINING_SPACE, lambda at: score_training(at, digits, seed=seed), n_trials=n_trials, seed=seed)
