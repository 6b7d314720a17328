"""Search the parameters of training of `springback_2026`; `springback tune` searches those of streaming.

A point is scored by the accuracy on held-out training digits of a network trained on others. No test digit is touched.
The preset itself was found in the same space by a random search that drew one point in four from the whole space and
the others near the best so far.
"""

from collections.abc import Callable
from dataclasses import replace

from springback.heads.search import Range, Tried, search
from springback.spiking.evaluation import recognise_images
from springback.spiking.fitting import label_model, untrained_model
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.presets import Preset
from springback.spiking.training import init_training, learned, train
from springback.streaming.records import Images

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


def tune_training(
    digits: Images, *, seed: int, n_trials: int, on_trial: Callable[[Tried], None] = lambda _: None
) -> list[Tried]:
    """Search the parameters of training; `on_trial` receives every point as soon as it is scored."""

    def score(values: dict[str, float]) -> float:
        trial = Tried(values, score_training(values, digits, seed=seed))
        on_trial(trial)
        return trial.score

    return search(TRAINING_SPACE, score, n_trials=n_trials, seed=seed)
