"""Training of the RNN and the LSTM: on sequences cut from one continuous video, the state carried over."""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

import torch
from springback import check
from springback.files.checkpoints import has_version
from springback.streaming.records import Video
from springback_paper.baselines.checkpoint import Progress, describe_training, resume, save_checkpoint
from springback_paper.baselines.learning import OPTIMISERS, Learner, OnProgress, ahead, ignore_progress
from springback_paper.baselines.models import SequenceModel
from springback_paper.baselines.torch_state import one_thread
from springback_paper.baselines.training import check_frames
from torch import Tensor

Recurrent = TypeVar("Recurrent", bound=SequenceModel)


@dataclass(frozen=True, kw_only=True)
class SequenceTraining:
    """How a video is learned: the paper's values but for the optimiser, Methods, "ANN training and testing".

    The paper trains both networks by plain gradient descent.

    Parameters
    ----------
    passes : int
        How often the video is seen.
    lanes : int
        Sequences per batch: how many places of the video are followed side by side.
    n_frames : int
        Frames per sequence; gradients flow this far back.
    learning_rate : float
        Of the optimiser.
    optimiser : str
        "adam", or "sgd": plain gradient descent.
    """

    passes: int = 2
    lanes: int = 128
    n_frames: int = 21
    learning_rate: float = 1e-3
    optimiser: str = "adam"

    def __post_init__(self) -> None:
        check.integer("SequenceTraining.passes", self.passes, low=0)
        check.integer("SequenceTraining.lanes", self.lanes, low=1)
        check.integer("SequenceTraining.n_frames", self.n_frames, low=1)
        check.real("SequenceTraining.learning_rate", self.learning_rate, above=0)
        check.one_of("SequenceTraining.optimiser", self.optimiser, OPTIMISERS)


@dataclass(frozen=True)
class Lanes:
    """A video cut into `lanes` equal stretches that are followed side by side, `n_frames` at a time.

    Frames at the end of a lane that do not fill a sequence are left out.
    """

    video: Video
    lanes: int
    n_frames: int
    batches_per_lesson: int = 32

    def __post_init__(self) -> None:
        least = self.lanes * self.n_frames
        must = f"have at least {least} frames, lanes times n_frames of SequenceTraining"
        check.require(self.batches > 0, "the video", must, len(self.video))

    @property
    def batches(self) -> int:
        """Batches in one pass."""
        return len(self.video) // self.lanes // self.n_frames

    @property
    def lessons(self) -> int:
        """Lessons in one pass: batches whose frames are made at once."""
        return -(-self.batches // self.batches_per_lesson)

    def lesson(self, number: int) -> tuple[Tensor, Tensor]:
        """Frames uint8 (time, lanes, height, width), labels int64 (time, lanes) of one lesson."""
        part = number % self.lessons
        first = part * self.batches_per_lesson * self.n_frames
        last = min((part + 1) * self.batches_per_lesson, self.batches) * self.n_frames
        length = len(self.video) // self.lanes
        frames = np.empty((last - first, self.lanes, *self.video.frame_shape), np.uint8)
        labels = np.empty((last - first, self.lanes), np.int64)
        for lane in range(self.lanes):
            begin = lane * length
            frames[:, lane] = self.video.source(begin + first, begin + last)
            labels[:, lane] = self.video.labels[begin + first : begin + last]
        return torch.from_numpy(frames), torch.from_numpy(labels)


def train_sequence(
    model: Recurrent,
    video: Video,
    training: SequenceTraining | None = None,
    *,
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Recurrent:
    """A trained copy of the model, in eval mode.

    Each batch continues the one before: a state lasts for a whole pass, gradients for one sequence. There is no chance
    in it beyond the model's own first weights. Torch works on one thread, and a `checkpoint` is used, as in
    `train_still`.

    Examples
    --------
    >>> labels = np.tile(np.repeat([3, 10], 6), 20)
    >>> nothing = np.zeros(240)
    >>> def halves(start, stop):
    ...     frames = np.zeros((stop - start, 28, 28), np.uint8)
    ...     frames[labels[start:stop] == 3, :14] = 255
    ...     return frames
    >>> video = Video(labels, nothing.astype(np.int16), nothing.astype(np.float32), labels, (28, 28), halves)
    >>> from springback_paper.baselines.models import Lstm
    >>> small = SequenceTraining(passes=20, lanes=4, n_frames=6, learning_rate=0.01)
    >>> trained = train_sequence(Lstm(n_hidden=4), video, small)
    >>> from springback_paper.baselines.answers import classify
    >>> classify(trained, video)[[1, 7]]
    array([ 3, 10])
    """
    training = training or SequenceTraining()
    check_frames(video)
    model = copy.deepcopy(model).train()
    lanes = Lanes(video, training.lanes, training.n_frames)
    per_batch = training.lanes * training.n_frames
    learner = Learner(model, training.learning_rate, training.optimiser)
    described = describe_training(model, training, seed=0, data=f"{video.name}, {len(video)} frames")
    progress = Progress()
    n_lessons = training.passes * lanes.lessons
    if checkpoint is not None and has_version(checkpoint):
        shape = (1, training.lanes, model.cells.hidden_size)
        progress = resume(checkpoint, model, learner, described, n_lessons=n_lessons, state_shape=shape)
        on_progress(progress.frames_seen, float("nan"))
    seen, state = progress.frames_seen, progress.state
    with one_thread():
        for number, (pixels, labels) in ahead(lanes.lesson, progress.lessons_done, n_lessons):
            if number % lanes.lessons == 0:
                state = ()
            for start in range(0, len(labels), training.n_frames):
                rows = slice(start, start + training.n_frames)
                logits, state = model(pixels[rows] / 255, state or None)
                state = tuple(part.detach() for part in state)
                right = learner.learn(logits.flatten(0, 1), labels[rows].flatten())
                on_progress(per_batch, right / per_batch)
            seen += labels.numel()
            if checkpoint is not None:
                save_checkpoint(checkpoint, model, learner, Progress(number + 1, seen, state), described)
    return model.eval()
