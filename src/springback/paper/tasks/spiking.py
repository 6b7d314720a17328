"""The spiking network as tasks: trained once, then shown still digits, the video, and what the figures need."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import readout
from springback.paper.digits import digits, video_of_tests
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.tasks.entry import Added
from springback.spiking.fitting import train_model
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset, springback_2026
from springback.spiking.recognition import answers_to, recognise_images, shard_seed


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkParams:
    """What to run.

    Parameters
    ----------
    preset : Preset
        All parameters of the network.
    limit : int | None
        Use only the first images of each split; None: all.
    model : str
        Under which name the scores go.
    adapts : bool
        Whether short-term STDP is on while the video is shown.
    shard, n_shards : int
        Which part of the video this task shows; parts begin where a digit does, at rest.
    """

    preset: Preset
    limit: int | None = None
    model: str = "snn_st_stdp"
    adapts: bool = True
    shard: int = 0
    n_shards: int = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardAnswers:
    """The class the network gave to each frame of one part of the video, and where that part begins."""

    start: int
    predicted: NDArray[np.int64]


def train_network(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> SpikingModel:  # noqa: ARG001
    """Long-term STDP on the still training digits, then labels for the neurons."""
    return train_model(digits("train", params.limit), params.preset, seed=seed, data="mnist train")


def score_still(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> Scores:
    """Accuracy on the still test digits; they are shown at rest, where short-term STDP has nothing to remember."""
    tests = digits("test", params.limit)
    right = recognise_images(inputs["network"], tests, seed=seed).accuracy
    models = (params.model,) if params.model != "snn_st_stdp" else ("snn_static", "snn_st_stdp")
    return Scores(
        n_train=len(digits("train", params.limit)),
        n_test=len(tests),
        n_frames=0,
        mnist_test=dict.fromkeys(models, right),
    )


def answer_shard(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> ShardAnswers:
    """One part of the test video, frame by frame."""
    video = video_of_tests(params.limit, seed)
    start, stop = video.shard_bounds(params.n_shards)[params.shard]
    predicted = answers_to(
        inputs["network"], video.stretch(start, stop), adapts=params.adapts, seed=shard_seed(seed, params.shard)
    )
    return ShardAnswers(start=start, predicted=predicted)


def score_video(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> Scores:
    """The answers to all parts of the video together, as accuracies."""
    video = video_of_tests(params.limit, seed)
    parts = sorted(inputs.values(), key=lambda part: part.start)
    predicted = np.concatenate([part.predicted for part in parts])
    return Scores(
        n_train=len(digits("train", params.limit)),
        n_test=len(digits("test", params.limit)),
        n_frames=len(video),
        omnist_test={params.model: readout.accuracy(predicted, video.labels)},
        by_rows_hidden={params.model: readout.accuracy_by_rows(predicted, video)},
        by_ink_hidden={params.model: readout.accuracy_by_ink(predicted, video)},
    )


LARGE = 1600
"""Neurons of the large network."""

_N_SHARDS = 8


def tasks(scope: Scope, seed: int) -> list[Added]:
    """The paper's network: trained, tested on still digits, and shown the video without and with short-term STDP."""
    params = NetworkParams(preset=springback_2026(n_neurons=scope.neurons), limit=scope.limit)
    share = scope.share
    network = f"snn-{seed}"
    both = ("snn_static", "snn_st_stdp")
    needs = {"network": network}
    train = Task(name=network, run=train_network, params=params, seed=seed, needs={}, seconds=45 * share)
    still = Task(
        name=f"snn_still-{seed}",
        run=score_still,
        params=params,
        seed=seed,
        needs=needs,
        seconds=6 * share,
    )
    found: list[Added] = [(both, train), (both, still)]
    for model, adapts, seconds in (("snn_static", False, 40), ("snn_st_stdp", True, 50)):
        one = replace(params, model=model, adapts=adapts)
        found += _video(model, one, seed, needs, 1, seconds * share)
    if scope.full:
        large = replace(params, preset=springback_2026(n_neurons=LARGE), model="snn_1600_st_stdp")
        trained = Task(
            name=f"snn_1600-{seed}",
            run=train_network,
            params=large,
            seed=seed,
            needs={},
            seconds=240 * share,
        )
        still = Task(
            name=f"snn_1600_still-{seed}",
            run=score_still,
            params=large,
            seed=seed,
            needs={"network": trained.name},
            seconds=30 * share,
        )
        found += [(("snn_1600_st_stdp",), trained), (("snn_1600_st_stdp",), still)]
        found += _video("snn_1600_st_stdp", large, seed, {"network": trained.name}, _N_SHARDS, 240 * share)
    return found


def _video(
    model: str, params: NetworkParams, seed: int, needs: dict[str, str], n_shards: int, seconds: float
) -> list[Added]:
    """The video in one or more parts, and the accuracies of all of them together."""
    shards = [
        Task(
            name=f"{model}-answers{shard}-{seed}",
            run=answer_shard,
            params=replace(params, shard=shard, n_shards=n_shards),
            seed=seed,
            needs=needs,
            seconds=seconds / n_shards,
        )
        for shard in range(n_shards)
    ]
    whole = Task(
        name=f"{model}-{seed}",
        run=score_video,
        params=params,
        seed=seed,
        needs={shard.name: shard.name for shard in shards},
        seconds=1,
    )
    return [((model,), task) for task in (*shards, whole)]
