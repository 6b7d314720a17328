"""The spiking network as tasks: trained once, then shown still digits, the video, and what the figures need."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.datasets import make_omnist
from springback.paper.digits import VideoOfTests, both_splits
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.entry import Added
from springback.records import Images, Video
from springback.spiking.fitting import train_model
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset, moraitis_2020, springback_2026
from springback.spiking.recognition import answers_to, recognise_images, shard_seed


class Way(StrEnum):
    """How a network is shown the video; the names of its models end in these."""

    ADAPTING = "st_stdp"
    """With short-term STDP."""
    STATIC = "static"
    """Without it, and otherwise the same."""
    STATIC_BEST = "static_best"
    """Without it, with the intensity and thresholds that suit static weights best on training video."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardAnswers:
    """The class the network gave to each frame of one part of the video, and where that part begins."""

    start: int
    predicted: NDArray[np.int64]


def train_network(preset: Preset, train: Images, seed: int) -> SpikingModel:
    """Long-term STDP on the still training digits, then labels for the neurons."""
    return train_model(train, preset, seed=seed, data="mnist train")


def score_still(network: SpikingModel, models: tuple[str, ...], train: Images, test: Images, seed: int) -> Scores:
    """Accuracy on the still test digits; they are shown at rest, where short-term STDP has nothing to remember."""
    right = recognise_images(network, test, seed=seed).accuracy
    return Scores(n_train=len(train), n_test=len(test), n_frames=0, mnist_test=dict.fromkeys(models, right))


def answer_shard(
    network: SpikingModel, video: Video, seed: int, *, way: str, shard: int = 0, n_shards: int = 1
) -> ShardAnswers:
    """One part of the test video, with or without short-term STDP; a part begins with a digit, at rest."""
    start, stop = video.shard_bounds(n_shards)[shard]
    shown = network.static() if way == Way.STATIC_BEST else network
    adapts = way == Way.ADAPTING
    predicted = answers_to(shown, video.stretch(start, stop), adapts=adapts, seed=shard_seed(seed, shard))
    return ShardAnswers(start=start, predicted=predicted)


def score_video(model: str, train: Images, test: Images, seed: int, **parts: ShardAnswers) -> Scores:
    """The answers to all parts of the video together, as accuracies."""
    predicted = np.concatenate([part.predicted for part in sorted(parts.values(), key=lambda part: part.start)])
    return Scores.of({model: predicted}, make_omnist(test, seed=seed), n_train=len(train), n_test=len(test))


LARGE = 1600
"""Neurons of the large network."""

_N_SHARDS = 8

_SECONDS = {Way.ADAPTING: 50, Way.STATIC: 40, Way.STATIC_BEST: 45}


def tasks(scope: Scope, seed: int) -> list[Added]:
    """The networks: trained, tested on still digits, and shown the video without and with short-term STDP."""
    found = _network("spiking", springback_2026(n_neurons=scope.neurons), scope, seed)
    if seed in scope.few_seeds:
        found += _network("moraitis", moraitis_2020(n_neurons=scope.neurons), scope, seed)
    if scope.full and seed in scope.fewest_seeds:
        found += _network("spiking_1600", springback_2026(n_neurons=LARGE), scope, seed, costs=5, n_shards=_N_SHARDS)
    return found


def _network(name: str, preset: Preset, scope: Scope, seed: int, *, costs: float = 1, n_shards: int = 1) -> list[Added]:
    """One network, and its models: one for each way of showing it the video; `costs`: against 400 neurons."""
    images, video = both_splits(scope.limit), VideoOfTests(scope.limit)
    models = {f"{name}_{way}": way for way in Way}

    def task(names: Iterable[str], suffix: str, run: Callable[..., Any], takes: float, **params: Any) -> Added:
        needs = params.pop("needs", {"network": f"{name}-{seed}"})
        takes = takes if takes == 1 else takes * scope.share
        return tuple(names), Task(
            name=f"{suffix}-{seed}", run=run, params=params, seed=seed, needs=needs, seconds=takes
        )

    train = task(
        models, name, train_network, (30 + 15 * preset.epochs) * costs, preset=preset, train=images["train"], needs={}
    )
    still = task(models, f"{name}_still", score_still, 6 * costs, models=tuple(models), **images)
    found = [train, still]
    for model, way in models.items():
        shown = {"video": video, "way": str(way), "n_shards": n_shards}
        takes = costs * _SECONDS[way] / n_shards
        shards = [
            task([model], f"{model}-answers{shard}", answer_shard, takes, **shown, shard=shard)
            for shard in range(n_shards)
        ]
        parts = {f"part_{number}": part.name for number, (_, part) in enumerate(shards)}
        found += [*shards, task([model], model, score_video, 1, model=model, **images, needs=parts)]
    return found
