"""The spiking network as tasks: trained once, then shown still digits, the video, and what the figures need."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import readout
from springback.paper.digits import digits, video_of_tests
from springback.paper.runner.task import Task
from springback.paper.scope import Scope
from springback.paper.scores import Scores
from springback.paper.spiking_omnist import recognise_images, stream_video, train_model
from springback.paper.tasks.entry import Added
from springback.records import Video
from springback.spiking.model_file import SpikingModel, model_of
from springback.spiking.network import Weights
from springback.spiking.presets import Preset, springback_2026


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
class TrainedNetwork:
    """What training wrote: resting weights, thresholds in mV, and the class of each neuron."""

    resting: NDArray[np.float32]
    theta: NDArray[np.float32]
    neuron_labels: NDArray[np.int64]
    seed: int
    data: str

    @property
    def headline(self) -> str:
        """How many neurons found a class."""
        return f"{int((self.neuron_labels >= 0).sum())} of {len(self.neuron_labels)} neurons labelled"

    def model(self, preset: Preset) -> SpikingModel:
        """The network, ready to run."""
        return model_of(preset, Weights(self.resting, self.theta), self.neuron_labels, seed=self.seed, data=self.data)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShardAnswers:
    """The class the network gave to each frame of one part of the video, and where that part begins."""

    start: int
    predicted: NDArray[np.int64]


def train_network(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> TrainedNetwork:  # noqa: ARG001
    """Long-term STDP on the still training digits, then labels for the neurons."""
    model = train_model(digits("train", params.limit), params.preset, seed=seed, data="mnist train")
    return TrainedNetwork(
        resting=np.array(model.weights.resting),
        theta=np.array(model.weights.theta),
        neuron_labels=np.array(model.neuron_labels),
        seed=seed,
        data=model.data,
    )


def score_still(params: NetworkParams, seed: int, inputs: Mapping[str, Any]) -> Scores:
    """Accuracy on the still test digits; they are shown at rest, where short-term STDP has nothing to remember."""
    tests = digits("test", params.limit)
    network = inputs["network"].model(params.preset)
    right = recognise_images(network, tests, params.preset.testing, seed=seed).accuracy
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
    start, stop = shard_bounds(video, params.n_shards)[params.shard]
    score = stream_video(
        inputs["network"].model(params.preset),
        video.stretch(start, stop),
        params.preset.streaming,
        params.preset.short_term if params.adapts else None,
        seed=seed + 1_000_003 * params.shard,
    )
    return ShardAnswers(start=start, predicted=score.predicted)


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


def shard_bounds(video: Video, n_shards: int) -> list[tuple[int, int]]:
    """(start, stop) of `n_shards` parts of about equal length, each beginning with a digit; empty ones at the end.

    Examples
    --------
    >>> shard_bounds(video_of_tests(4, seed=0), 2)
    [(0, 34), (34, 65)]
    """
    begins = np.flatnonzero((video.digit >= 0) & (np.diff(video.digit, prepend=-2) != 0))
    wanted = np.arange(1, n_shards) * len(video) // n_shards
    places = np.searchsorted(begins, wanted)
    inner = [int(begins[at]) if at < len(begins) else len(video) for at in places]
    bounds = [0, *inner, len(video)]
    return list(pairwise(bounds))


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
