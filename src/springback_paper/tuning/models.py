"""What `springback tune` searches: the free parameters of each model, scored on videos of training digits alone.

Models learn from the first training digits; the videos are made of others. No test digit is touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from springback import check
from springback.data import make_omnist
from springback.heads.search import Range
from springback.spiking.classifier import SpikingClassifier
from springback.spiking.evaluation import follow_video
from springback.spiking.presets import Preset, springback_2026
from springback.streaming.metrics import accuracy
from springback.streaming.records import Images, Video
from springback_paper.inputs.digits import Digits, digits
from springback_paper.inputs.elastic_omnist import ElasticOmnist
from springback_paper.runner.task import Task
from springback_paper.tasks import elastic as elastic_omnist
from springback_paper.tasks.spiking import train_network
from springback_paper.tuning.own import OwnImages, OwnNetwork
from springback_paper.tuning.spiking import SEARCHES, with_streaming

MODELS = (*SEARCHES, "elastic", "cnn-elastic")

SPACES: dict[str, Mapping[str, Range]] = {
    **{name: search.space for name, search in SEARCHES.items()},
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


_WIDER = 1.5
"""By how much the range of intensities is wider at both ends for images of your own."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What to search.

    Parameters
    ----------
    model : str
        One of `MODELS`.
    n_train : int
        How many training digits, from the first one on, are learned from.
    n_digits : int
        Digits of the video, spread over the last 5,000 training digits.
    neurons : int
        Neurons of the network, or centroids.
    own : OwnImages | None
        Your own images instead of digits; for networks of spiking neurons alone.

    Examples
    --------
    >>> Tuning(model="perceptron")
    Traceback (most recent call last):
    ValueError: Tuning.model must be one of 'spiking', ..., 'cnn-elastic'; got 'perceptron'
    """

    model: str
    seed: int = 0
    n_train: int = 50_000
    n_digits: int = 300
    neurons: int = 400
    own: OwnImages | None = None

    def __post_init__(self) -> None:
        check.one_of("Tuning.model", self.model, MODELS)
        check.integer("Tuning.seed", self.seed, low=0, high=2**63 - 1)
        check.integer("Tuning.n_train", self.n_train, low=10, high=55_000)
        check.integer("Tuning.n_digits", self.n_digits, low=1, high=5000)
        check.integer("Tuning.neurons", self.neurons, low=2, high=10**6)
        if self.own is not None:
            check.one_of("Tuning.model with images of your own", self.model, tuple(SEARCHES))

    @property
    def starting_preset(self) -> Preset:
        """What the spiking network starts from."""
        make, own = SEARCHES[self.model].preset, self.own
        if own is None:
            return make(n_neurons=self.neurons)
        drive = {} if make is springback_2026 else {"brightness": own.brightness}
        return make(n_inputs=own.n_inputs, n_neurons=self.neurons, **drive)

    @property
    def space(self) -> Mapping[str, Range]:
        """Where each free parameter may lie; for images of your own, intensities as bright as they make them."""
        space = SPACES[self.model]
        if self.own is None:
            return space
        start, of_digits = self.starting_preset, SEARCHES[self.model].preset()
        share = start.streaming.intensity / of_digits.streaming.intensity
        wide = replace(span := space["intensity"], low=share * span.low / _WIDER, high=share * span.high * _WIDER)
        return {**space, "intensity": wide}


def task_of(tuning: Tuning) -> Task | None:
    """What must be trained once before a search; None: nothing."""
    name = f"tuned-{tuning.model}-{tuning.seed}"
    if tuning.model in SEARCHES and tuning.own is None:
        name = f"tuned-{tuning.starting_preset.name}-{tuning.seed}"
        params: dict[str, Any] = {"preset": tuning.starting_preset, "train": Digits("train", tuning.n_train)}
        return Task(name=name, run=train_network, params=params, seed=tuning.seed, needs={}, seconds=40)
    if tuning.model == "cnn-elastic":
        from springback_paper.tasks.baselines import BaselineOmnist, train_still_network

        params = {"params": BaselineOmnist(model="cnn", trained_on="mnist"), "train": Digits("train", tuning.n_train)}
        return Task(name=name, run=train_still_network, params=params, seed=tuning.seed, needs={}, seconds=200)
    return None


def score(tuning: Tuning, values: Mapping[str, float], trained: Any = None, *, again: bool = False) -> float:
    """Accuracy on the video of held-out training digits.

    Parameters
    ----------
    trained : Any
        The result of `task_of(tuning)`, if it has one.
    again : bool
        Whether to show a second video, of other held-out digits and three times as long: the best of many trials
        looks better on the first than it is.
    """
    if tuning.model in SEARCHES:
        return _score_network(tuning, values, trained, again)
    if tuning.model == "elastic":
        params = _elastic_at(tuning, values)
        params = replace(params, threshold_images=min(params.threshold_images, tuning.n_train))
        train = digits("train", tuning.n_train)
        found = elastic_omnist.evaluate(params, train, _held_out(tuning, again), tuning.seed)
        return found.elastic.accuracy
    return _score_elastic_head(tuning, values, trained, again)


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
    if tuning.model in SEARCHES:
        start = tuning.starting_preset
        return replace(_preset_at(tuning, start, values), name=f"{start.name}, tuned")
    if tuning.model == "elastic":
        return _elastic_at(tuning, values)
    return dict(values)


def _elastic_at(tuning: Tuning, values: Mapping[str, float]) -> ElasticOmnist:
    return replace(ElasticOmnist(n_clusters=tuning.neurons), **values)  # type: ignore[arg-type]


def _preset_at(tuning: Tuning, start: Preset, values: Mapping[str, float]) -> Preset:
    return with_streaming(start, values, adapts=SEARCHES[tuning.model].adapts)


def _held_out(tuning: Tuning, again: bool) -> Images:
    """Digits of the first video, or of the second, which has none of the first unless it needs all there are."""
    last = digits("train", None)[-5000:]
    first = np.arange(0, len(last), max(1, len(last) // tuning.n_digits))[: tuning.n_digits]
    if not again:
        return last[first]
    rest = np.setdiff1d(np.arange(len(last)), first)
    rest = rest if len(rest) else first
    return last[rest[:: max(1, len(rest) // (3 * tuning.n_digits))][: 3 * tuning.n_digits]]


def _video(tuning: Tuning, again: bool) -> Video:
    return make_omnist(_held_out(tuning, again), seed=tuning.seed + again)


def _score_network(tuning: Tuning, values: Mapping[str, float], trained: Any, again: bool) -> float:
    adapts = SEARCHES[tuning.model].adapts
    if isinstance(trained, OwnNetwork):
        model = replace(trained.model, preset=_preset_at(tuning, trained.model.preset, values))
        follower = SpikingClassifier.of(model if adapts else model.static(), adapts=adapts)
        follower.random_state = tuning.seed + again
        frames, labels = trained.streams[again]
        return accuracy(follower.track_labels(frames), labels)
    model = replace(trained, preset=_preset_at(tuning, trained.preset, values))
    shown = model if adapts else model.static()
    return follow_video(shown, _video(tuning, again), adapts=adapts, seed=tuning.seed + again).accuracy


def _score_elastic_head(tuning: Tuning, values: Mapping[str, float], trained: Any, again: bool) -> float:
    from springback_paper.tasks.adaptation_methods import methods
    from springback_paper.tasks.elastic_head import see

    seen = see(trained.model(), _video(tuning, again))
    answers = methods(seen.labels)["elastic"].answer(seen, **values)
    return accuracy(answers.argmax(axis=1), seen.labels)
