"""How fast the engines are on one core of this machine: processor time, the best of a few repetitions of fixed work."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from springback import elastic
from springback.data import make_omnist
from springback.spiking import stream
from springback.spiking.model import SpikingModel
from springback.spiking.training import init_training, train
from springback.streaming.records import Images
from springback_paper.inputs.digits import Digits
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.entry import Added

_SETTLING_IMAGES = 3000
"""Fresh neurons fire far more than later: training is timed after this number of images."""


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Images or frames per second."""

    spiking_training_images_per_s: float
    spiking_static_frames_per_s: float
    spiking_st_stdp_frames_per_s: float
    elastic_frames_per_s: float

    @property
    def headline(self) -> str:
        """The two that matter most."""
        adapting, clustering = self.spiking_st_stdp_frames_per_s, self.elastic_frames_per_s
        return f"{adapting:,.0f} frames/s spiking, {clustering:,.0f} elastic"


def measure(model: SpikingModel, images: Images, *, n_frames: int = 1000, repeats: int = 3) -> Speed:
    """Time training, and following a video without and with short-term plasticity."""
    preset = model.preset
    video = make_omnist(images[: -(-n_frames // 12)], seed=0)
    n = min(n_frames, len(video))
    shown = video.stretch(0, n).frames
    learning = {"circuit": preset.circuit, "stdp": preset.long_term, "presentation": preset.training, "seed": 0}
    fresh = init_training(preset.circuit, preset.long_term, seed=0)
    settled, _ = train(fresh, images.pixels[:_SETTLING_IMAGES], **learning)  # type: ignore[arg-type]

    def learn() -> Any:
        return train(settled, images.pixels[:n], **learning)  # type: ignore[arg-type]

    def follow(adapts: bool) -> Callable[[], Any]:
        place = stream.place_at_rest(model, adapts=adapts)
        return lambda: stream.follow(model, place, shown)

    rows = shown.reshape(n, -1).astype(np.float32) / 255
    at_rest = np.ascontiguousarray(model.weights.resting.T)
    springs = elastic.Elasticity(kappa=40.0, pull=30.0, kernel=elastic.Exponential(memory=1.1))
    clusters = elastic.prepare(springs, at_rest)
    return Speed(
        spiking_training_images_per_s=_rate(learn, min(n, len(images)), repeats),
        spiking_static_frames_per_s=_rate(follow(False), n, repeats),
        spiking_st_stdp_frames_per_s=_rate(follow(True), n, repeats),
        elastic_frames_per_s=_rate(lambda: elastic.track(clusters, elastic.init(clusters), rows), n, repeats),
    )


def _rate(work: Callable[[], Any], n: int, repeats: int) -> float:
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return n / min(times)


def tasks(scope: Scope, seed: int) -> list[Added]:
    """One measurement, with the network of the first seed."""
    if seed != scope.seeds[0]:
        return []
    params = {"images": Digits("train", scope.limit)}
    needs, seconds = {"model": f"spiking-{seed}"}, max(1.0, 10 * scope.share)
    return [(("speed",), Task(name="speed", run=measure, params=params, seed=seed, needs=needs, seconds=seconds))]
