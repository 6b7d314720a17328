"""The spiking network as tasks: trained once, then shown still digits, the video, and what the figures need."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.data import make_omnist
from springback.spiking.evaluation import responses_in, responses_to, shard_seed
from springback.spiking.fitting import class_profiles, train_model
from springback.spiking.inference import Counts
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset, moraitis_2020, springback_2026
from springback.streaming import readout
from springback.streaming.metrics import accuracy
from springback.streaming.records import Images, Video
from springback_paper.inputs.digits import REPLACED, VideoOfTests, both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.entry import Added


class Way(StrEnum):
    """How a network is shown the video; the names of its models end in these."""

    ADAPTING = "st_stdp"
    """With short-term STDP."""
    STATIC = "static"
    """Without it, and otherwise the same."""
    STATIC_BEST = "static_best"
    """Without it, with the intensity and thresholds that suit static weights best on training video."""


ONCE = "moraitis_once"
"""The paper's network whose training digits are shown once, as the paper says."""

REPLACED_NOISE = "_replaced"
"""How the names of networks end that are shown the video whose noise is drawn with replacement."""

LIKELIEST = "_likeliest"
"""How the names of models end that are read by `readout.likeliest`; the others have one label for each neuron."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profiles:
    """Mean response of each neuron to the training digits of each class, (classes, n_neurons)."""

    mean_counts: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardAnswers:
    """The class the network gave to each frame of one part of the video, and where that part begins.

    Parameters
    ----------
    predicted : NDArray[np.int64]
        Read by the label of each neuron.
    likeliest : NDArray[np.int64] | None
        Read by the profiles of all neurons, if they were given.
    """

    start: int
    predicted: NDArray[np.int64]
    likeliest: NDArray[np.int64] | None = None


def train_network(preset: Preset, train: Images, seed: int) -> SpikingModel:
    """Long-term STDP on the still training digits, then labels for the neurons."""
    return train_model(train, preset, seed=seed, data="mnist train")


def measure_profiles(network: SpikingModel, train: Images) -> Profiles:
    """How each neuron of the trained network responds to each class of the still training digits."""
    return Profiles(mean_counts=class_profiles(network, train))


def score_still(
    network: SpikingModel,
    models: tuple[str, ...],
    train: Images,
    test: Images,
    seed: int,
    profiles: Profiles | None = None,
) -> Scores:
    """Accuracy on the still test digits; they are shown at rest, where short-term STDP has nothing to remember.

    Models whose names end in `LIKELIEST` need the profiles.
    """
    counts = responses_to(network, test, seed=seed)
    predicted, likeliest = _read(network, counts, profiles)
    right = {}
    for model in models:
        said = likeliest if model.endswith(LIKELIEST) else predicted
        if said is None:
            raise ValueError(f"profiles must be given, because {model} is read by them; got None")
        right[model] = accuracy(said, test.labels)
    return Scores(n_train=len(train), n_test=len(test), n_frames=0, mnist_test=right)


def answer_shard(
    network: SpikingModel,
    video: Video,
    seed: int,
    *,
    way: str,
    shard: int = 0,
    n_shards: int = 1,
    profiles: Profiles | None = None,
) -> ShardAnswers:
    """One part of the test video, with or without short-term STDP; a part begins with a digit, at rest."""
    start, stop = video.shard_bounds(n_shards)[shard]
    shown = network.static() if way == Way.STATIC_BEST else network
    responses = responses_in(
        shown, video.stretch(start, stop), adapts=way == Way.ADAPTING, seed=shard_seed(seed, shard)
    )
    answers = [_read(network, counts, profiles) for _, counts in responses]
    nothing = np.zeros(0, np.int64)
    return ShardAnswers(
        start=start,
        predicted=np.concatenate([nothing, *(one for one, _ in answers)]),
        likeliest=None
        if profiles is None
        else np.concatenate([nothing, *(one for _, one in answers if one is not None)]),
    )


def _read(
    network: SpikingModel, counts: Counts, profiles: Profiles | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The classes of responses by the label of each neuron, and by their profiles if these are given."""
    hard = readout.classify(counts, network.neuron_labels, network.classes)
    return hard, None if profiles is None else readout.likeliest(counts, profiles.mean_counts, network.classes)


def score_video(
    models: tuple[str, ...], train: Images, test: Images, seed: int, *, replaced: bool = False, **parts: ShardAnswers
) -> Scores:
    """The answers to all parts of the video together, as accuracies; one model for each way of reading them."""
    video = make_omnist(test, seed=seed, params=REPLACED if replaced else None)
    ordered = sorted(parts.values(), key=lambda part: part.start)
    answers = {model: np.concatenate([_answers(part, model) for part in ordered]) for model in models}
    return Scores.of(answers, video, n_train=len(train), n_test=len(test))


def _answers(part: ShardAnswers, model: str) -> NDArray[np.int64]:
    if not model.endswith(LIKELIEST):
        return part.predicted
    if part.likeliest is None:
        raise ValueError(f"parts must hold answers by profiles, because {model} is read by them; got None")
    return part.likeliest


LARGE, LARGEST = 1600, 6400
"""Neurons of the large networks."""

_N_SHARDS = 8

_SECONDS = {Way.ADAPTING: 50, Way.STATIC: 40, Way.STATIC_BEST: 45}

_COSTS = {LARGE: 5.0, LARGEST: 20.0}
"""Time that a large network takes, against that of 400 neurons."""


def tasks(scope: Scope, seed: int) -> list[Added]:
    """The networks: trained, tested on still digits, and shown the video without and with short-term STDP."""
    found = _network("spiking", springback_2026(n_neurons=scope.neurons), scope, seed, profiled=True)
    if seed in scope.few_seeds:
        found += _network("moraitis", moraitis_2020(n_neurons=scope.neurons), scope, seed, replaced=True)
    if scope.full and seed in scope.few_seeds:
        once = replace(moraitis_2020(n_neurons=scope.neurons), epochs=1)
        found += _network(ONCE, once, scope, seed, ways=(Way.ADAPTING, Way.STATIC_BEST))
    if scope.full and seed in scope.fewest_seeds:
        for size, costs in _COSTS.items():
            preset = springback_2026(n_neurons=size)
            found += _network(f"spiking_{size}", preset, scope, seed, costs=costs, n_shards=_N_SHARDS, profiled=True)
    return found


def _network(
    name: str,
    preset: Preset,
    scope: Scope,
    seed: int,
    *,
    costs: float = 1,
    n_shards: int = 1,
    profiled: bool = False,
    replaced: bool = False,
    ways: tuple[Way, ...] = tuple(Way),
) -> list[Added]:
    """One network, and its models: one for each way of showing it the video.

    Parameters
    ----------
    costs : float
        The time it takes, against 400 neurons.
    profiled : bool
        Whether it is also read by the profiles of its neurons while it adapts, as a model of its own.
    replaced : bool
        Whether it is also shown the video whose noise is drawn with replacement, as models of their own.
    ways : tuple[Way, ...]
        How it is shown the video.
    """
    images = both_splits(scope.limit)
    models: dict[Way, tuple[str, ...]] = {way: (f"{name}_{way}",) for way in ways}
    if profiled:
        models[Way.ADAPTING] += (f"{name}_{Way.ADAPTING}{LIKELIEST}",)
    everyone = tuple(model for some in models.values() for model in some)
    network = {"network": f"{name}-{seed}"}
    measured = {"profiles": f"{name}_profiles-{seed}"} if profiled else {}

    def task(names: Iterable[str], suffix: str, run: Callable[..., Any], takes: float, **params: Any) -> Added:
        needs = params.pop("needs", network)
        takes = takes if takes == 1 else takes * scope.share
        return tuple(names), Task(
            name=f"{suffix}-{seed}", run=run, params=params, seed=seed, needs=needs, seconds=takes
        )

    learning = (30 + 15 * preset.epochs) * costs
    found = [task(everyone, name, train_network, learning, preset=preset, train=images["train"], needs={})]
    if profiled:
        found.append(task(everyone, f"{name}_profiles", measure_profiles, 15 * costs, train=images["train"]))
    still = {"models": everyone, **images, "needs": network | measured}
    found.append(task(everyone, f"{name}_still", score_still, 6 * costs, **still))
    videos = [(way, some, False) for way, some in models.items()]
    if replaced:
        both = (Way.ADAPTING, Way.STATIC_BEST)
        videos += [(way, (f"{name}{REPLACED_NOISE}_{way}",), True) for way in both]
    for way, some, other in videos:
        shown = {"video": VideoOfTests(scope.limit, other), "way": str(way), "n_shards": n_shards}
        needs = network | (measured if len(some) > 1 else {})
        takes = costs * _SECONDS[way] / n_shards
        shards = [
            task(some, f"{some[0]}-answers{shard}", answer_shard, takes, **shown, shard=shard, needs=needs)
            for shard in range(n_shards)
        ]
        parts = {f"part_{number}": part.name for number, (_, part) in enumerate(shards)}
        found += [*shards, task(some, some[0], score_video, 1, models=some, replaced=other, **images, needs=parts)]
    return found
