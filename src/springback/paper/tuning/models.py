"""What `springback tune` searches: the free parameters of each model, scored on videos of training digits alone.

Models learn from the first training digits; the videos are made of others. No test digit is touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from springback import check
from springback.datasets import make_omnist
from springback.paper.digits import Digits, digits
from springback.paper.runner.task import Task
from springback.paper.tasks import elastic as elastic_omnist
from springback.paper.tasks.elastic import ElasticOmnist
from springback.paper.tasks.spiking import train_network
from springback.paper.tuning.spiking import STREAMING_SPACE, Range, streaming_of
from springback.records import Images, Video
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset, springback_2026
from springback.spiking.recognition import follow_video

MODELS = ("spiking", "elastic", "cnn-elastic")

SPACES: dict[str, dict[str, Range]] = {
    "spiking": STREAMING_SPACE,
    "elastic": {
        "kappa": Range(10.0, 100.0, log=True),
        "pull": Range(1.0, 100.0, log=True),
        "memory": Range(0.4, 4.0, log=True),
        "beta": Range(0.1, 10.0, log=True),
    },
    "cnn-elastic": {
        "pull": Range(2.0, 100.0, log=True),
        "memory": Range(0.3, 4.0, log=True),
        "kappa": Range(0.5, 8.0, log=True),
    },
}
"""Where each free parameter may lie."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What to search.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    n_train : int
        The first so many training digits are learned from.
    n_digits : int
        Digits of the video, spread over the last 5,000 training digits.
    neurons : int
        Neurons of the network, or centroids.

    Examples
    --------
    >>> Tuning(model="perceptron")
    Traceback (most recent call last):
    ValueError: Tuning.model must be one of 'spiking', 'elastic', 'cnn-elastic'; got 'perceptron'
    """

    model: str
    seed: int = 0
    n_train: int = 50_000
    n_digits: int = 300
    neurons: int = 400

    def __post_init__(self) -> None:
        check.one_of("Tuning.model", self.model, MODELS)
        check.integer("Tuning.seed", self.seed, low=0, high=2**63 - 1)
        check.integer("Tuning.n_train", self.n_train, low=10, high=55_000)
        check.integer("Tuning.n_digits", self.n_digits, low=1, high=5000)
        check.integer("Tuning.neurons", self.neurons, low=2, high=10**6)

    @property
    def starting_preset(self) -> Preset:
        """What the spiking network starts from."""
        return springback_2026(n_neurons=self.neurons)


def task_of(tuning: Tuning) -> Task | None:
    """What must be trained once before a search; None: nothing."""
    name = f"tuned-{tuning.model}-{tuning.seed}"
    if tuning.model == "spiking":
        params: dict[str, Any] = {"preset": tuning.starting_preset, "train": Digits("train", tuning.n_train)}
        return Task(name=name, run=train_network, params=params, seed=tuning.seed, needs={}, seconds=40)
    if tuning.model == "cnn-elastic":
        from springback.paper.tasks.baselines import BaselineOmnist, train_still_network

        params = {"params": BaselineOmnist(model="cnn", trained_on="mnist"), "train": Digits("train", tuning.n_train)}
        return Task(name=name, run=train_still_network, params=params, seed=tuning.seed, needs={}, seconds=200)
    return None


def score(tuning: Tuning, values: Mapping[str, float], trained: Any = None) -> float:
    """Accuracy on the video of held-out training digits.

    Parameters
    ----------
    trained : Any
        The result of `task_of(tuning)`, if it has one.
    """
    if tuning.model == "spiking":
        return _score_network(tuning, values, trained)
    if tuning.model == "elastic":
        params = _elastic_at(tuning, values)
        params = replace(params, threshold_images=min(params.threshold_images, tuning.n_train))
        train = digits("train", tuning.n_train)
        found = elastic_omnist.evaluate(params, train, _held_out(tuning), tuning.seed)
        return found.elastic.accuracy
    return _score_elastic_head(tuning, values, trained)


def preset_of(tuning: Tuning, values: Mapping[str, float]) -> Preset | ElasticOmnist | dict[str, float]:
    """The parameters at a point: a preset of the network, those of elastic clustering, or settings of the elastic head.

    Examples
    --------
    >>> preset_of(Tuning(model="elastic"), {"kappa": 20.0}).kappa
    20.0
    """
    check.require(
        set(values) <= set(SPACES[tuning.model]), "the values", f"be among {', '.join(SPACES[tuning.model])}", values
    )
    if tuning.model == "spiking":
        streaming, short_term = streaming_of(values)
        start = tuning.starting_preset
        return replace(start, name=f"{start.name}, tuned", short_term=short_term, streaming=streaming)
    if tuning.model == "elastic":
        return _elastic_at(tuning, values)
    return dict(values)


def _elastic_at(tuning: Tuning, values: Mapping[str, float]) -> ElasticOmnist:
    return replace(ElasticOmnist(n_clusters=tuning.neurons), **values)  # type: ignore[arg-type]


def _held_out(tuning: Tuning) -> Images:
    last = digits("train", None)[-5000:]
    return last[:: max(1, len(last) // tuning.n_digits)][: tuning.n_digits]


def _video(tuning: Tuning) -> Video:
    return make_omnist(_held_out(tuning), seed=tuning.seed)


def _score_network(tuning: Tuning, values: Mapping[str, float], trained: SpikingModel) -> float:
    return follow_video(trained.streaming_as(*streaming_of(values)), _video(tuning), seed=tuning.seed).accuracy


def _score_elastic_head(tuning: Tuning, values: Mapping[str, float], trained: Any) -> float:
    from springback.metrics import accuracy
    from springback.paper.tasks.adaptation_methods import methods
    from springback.paper.tasks.elastic_head import see

    seen = see(trained.model(), _video(tuning))
    answers = methods(seen.labels)["elastic"].answer(seen, **values)
    return accuracy(answers.argmax(axis=1), seen.labels)
