"""A small CNN whose head remembers: filters, resting weights, pulls and memories learned on the training video.

Everything is learned together by backpropagation through time, as in Rodriguez, Guo & Moraitis (2022). Each unit of the
head has a pull and a memory of its own. The network is trained on the same video as the recurrent networks, as often,
and with the same optimiser.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.extras import missing_extra

try:
    import torch
except ImportError:
    raise missing_extra("springback_paper.tasks.trained_memory", "torch") from None

from torch.nn import functional

from springback import check
from springback.data import make_omnist
from springback.heads import Springs
from springback.streaming.readout import refuse_overlap
from springback.streaming.records import NOISE_LABEL, Images, Video
from springback.torch import ElasticLinear, get_state, reset, set_state, track
from springback_paper.baselines import Cnn
from springback_paper.baselines.learning import OnProgress, ahead, ignore_progress
from springback_paper.baselines.sequences import Lanes
from springback_paper.baselines.torch_state import one_thread, seeded
from springback_paper.inputs.digits import both_splits
from springback_paper.results.scores import Scores
from springback_paper.run_scope import Scope
from springback_paper.runner.task import Task
from springback_paper.tasks.baselines import lanes_of, training_video
from springback_paper.tasks.entry import Added

KEY = "cnn_remembers_omnist"

_FRAMES_AT_ONCE = 4096
_MEMORY = ("head.pull", "head.log_memory")


@dataclass(frozen=True, kw_only=True)
class TrainedMemory:
    """What to run. Sizes, rates and first values were chosen with a video of the last 1,000 training digits.

    Parameters
    ----------
    n_filters, n_hidden : int
        Of both convolutions, and of the layer below the head: 42,249 parameters, where the LSTM has 315,990.
    passes : int
        How often the video is seen.
    lanes, n_frames : int
        Places of the video that are followed side by side, and frames through which gradients flow back.
    learning_rate, memory_rate : float
        Of the weights, and of pulls and memories; both fall to zero along a cosine.
    pull, memory : float
        Of every unit in the beginning; memories are in frames.
    """

    n_filters: int = 8
    n_hidden: int = 100
    passes: int = 2
    lanes: int = 64
    n_frames: int = 21
    learning_rate: float = 2e-3
    memory_rate: float = 3e-2
    pull: float = 3.0
    memory: float = 3.0

    def __post_init__(self) -> None:
        check.sizes(self, n_filters=1, n_hidden=1, passes=1, lanes=1, n_frames=1)
        for name in ("learning_rate", "memory_rate", "pull", "memory"):
            check.real(f"TrainedMemory.{name}", getattr(self, name), above=0)


def evaluate(
    params: TrainedMemory, train: Images, test: Images, seed: int, *, on_progress: OnProgress = ignore_progress
) -> Scores:
    """Train on the video of some images, then follow that of others."""
    refuse_overlap(train, test)
    model = trained(params, training_video(train, seed), seed, on_progress=on_progress)
    video = make_omnist(test, seed=seed)
    return Scores.of({KEY: followed(model, video)}, video, n_train=len(train), n_test=len(test), mnist_test={})


def new_network(params: TrainedMemory, seed: int) -> Cnn:
    """The network before training; the resting weights of its head are drawn, too."""
    springs = Springs(pull=params.pull, memory=params.memory, kappa=1.0, continuity=0.0)
    model = Cnn(n_filters=params.n_filters, n_hidden=params.n_hidden, dropout=0.0, seed=seed)
    with seeded(seed):
        model.head = ElasticLinear(params.n_hidden, NOISE_LABEL + 1, settings=springs, learned="unit")
    return model


@one_thread()
def trained(params: TrainedMemory, video: Video, seed: int, *, on_progress: OnProgress = ignore_progress) -> Cnn:
    """The network after its lessons, in eval mode: memory lasts for a whole pass, gradients for one sequence."""
    model = new_network(params, seed).train()
    lanes = Lanes(video, params.lanes, params.n_frames)
    memory = [one for name, one in model.named_parameters() if name in _MEMORY]
    weights = [one for name, one in model.named_parameters() if name not in _MEMORY]
    rates = (params.learning_rate, params.memory_rate)
    optimiser = torch.optim.Adam([{"params": weights}, {"params": memory}], lr=params.learning_rate)
    done, total = 0, params.passes * lanes.batches
    for number, (pixels, labels) in ahead(lanes.lesson, 0, params.passes * lanes.lessons):
        if number % lanes.lessons == 0:
            reset(model, params.lanes)
        for start in range(0, len(labels), params.n_frames):
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * (1 + math.cos(math.pi * done / total)) / 2
            set_state(model, get_state(model))  # what was remembered stays, its gradients end here
            x, right = pixels[start : start + params.n_frames] / 255, labels[start : start + params.n_frames].flatten()
            seen = torch.split(model.features(x.flatten(0, 1)), params.lanes)
            logits = torch.cat([model.head(frame) for frame in seen])
            optimiser.zero_grad()
            functional.cross_entropy(logits, right).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            done += 1
            on_progress(len(right), float((logits.argmax(dim=1) == right).float().mean()))
    return model.eval()


@one_thread()
@torch.no_grad()
def followed(model: Cnn, video: Video) -> NDArray[np.int64]:
    """The class of each frame of one continuous video, which begins with the head at rest."""
    reset(model.head)
    answers = []
    for start in range(0, len(video), _FRAMES_AT_ONCE):
        pixels = video.source(start, min(start + _FRAMES_AT_ONCE, len(video)))
        rows = model.features(torch.tensor(pixels) / 255).unsqueeze(1)
        answers.append(track(model.head, rows, in_place=True)[:, 0].argmax(dim=-1).numpy())
    return np.concatenate(answers)


def tasks(scope: Scope, seed: int) -> list[Added]:
    """With a full scope and the first five seeds, as for the recurrent networks."""
    if not scope.full or seed not in scope.few_seeds:
        return []
    params = TrainedMemory(lanes=min(TrainedMemory.lanes, lanes_of(scope)))
    task = Task(
        name=f"{KEY}-{seed}",
        run=evaluate,
        params={"params": params, **both_splits(scope.limit)},
        seed=seed,
        needs={},
        seconds=220 * scope.share,
    )
    return [((KEY,), task)]
