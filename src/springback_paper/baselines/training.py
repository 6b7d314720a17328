"""Training of the MLP and the CNN: on single frames in random order."""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from springback import check
from springback.files.checkpoints import has_version
from springback.streaming.records import Images, Video
from springback_paper.baselines.checkpoint import Progress, describe_training, resume, save_checkpoint
from springback_paper.baselines.learning import OPTIMISERS, Learner, OnProgress, ahead, ignore_progress
from springback_paper.baselines.models import StillModel, check_size
from springback_paper.baselines.shuffling import ShuffledFrames
from springback_paper.baselines.torch_state import one_thread, seeded

_FRAMES_PER_REPORT = 5000

Still = TypeVar("Still", bound=StillModel)


@dataclass(frozen=True, kw_only=True)
class StillTraining:
    """How single frames are learned: the paper's values for the MLP, Methods, "ANN training and testing".

    The paper trains the CNN by plain gradient descent, and says nothing of its batches and epochs.

    Parameters
    ----------
    epochs : int
        How often each frame is seen.
    batch : int
        Frames per step of the optimiser.
    learning_rate : float
        Of the optimiser.
    optimiser : str
        "adam", or "sgd": plain gradient descent.
    """

    epochs: int = 20
    batch: int = 100
    learning_rate: float = 1e-3
    optimiser: str = "adam"

    def __post_init__(self) -> None:
        check.integer("StillTraining.epochs", self.epochs, low=0)
        check.integer("StillTraining.batch", self.batch, low=1)
        check.real("StillTraining.learning_rate", self.learning_rate, above=0)
        check.one_of("StillTraining.optimiser", self.optimiser, OPTIMISERS)


def train_still(
    model: Still,
    frames: Images | Video,
    training: StillTraining | None = None,
    *,
    seed: int = 0,
    checkpoint: Path | None = None,
    on_progress: OnProgress = ignore_progress,
) -> Still:
    """A trained copy of the model, in eval mode; frames are labelled 0 ... 10.

    The order of frames and the dropout follow from the seed. PyTorch uses one thread, so that runs are
    bit-identical for a given seed and machine, however many cores there are; train several models in parallel to use
    more. With a `checkpoint` path, training that was interrupted resumes from there, with bit-identical results.

    Examples
    --------
    >>> import numpy as np
    >>> from springback_paper.baselines.models import Mlp
    >>> halves = np.zeros((40, 28, 28), np.uint8)
    >>> halves[:20, :14], halves[20:, 14:] = 255, 255
    >>> images = Images(halves, np.repeat([3, 10], 20))
    >>> trained = train_still(Mlp(n_hidden=5), images, StillTraining(batch=10, learning_rate=0.01), seed=1)
    >>> from springback_paper.baselines.answers import classify
    >>> classify(trained, images)[[0, 39]]
    array([ 3, 10])
    """
    training = training or StillTraining()
    check_frames(frames)
    model = copy.deepcopy(model).train()
    shuffled = ShuffledFrames(frames, seed)
    learner = Learner(model, training.learning_rate, training.optimiser)
    described = describe_training(model, training, seed=seed, data=shuffled.name)
    progress = Progress()
    n_lessons = training.epochs * shuffled.lessons_per_epoch
    if checkpoint is not None and has_version(checkpoint):
        progress = resume(checkpoint, model, learner, described, n_lessons=n_lessons)
        on_progress(progress.frames_seen, float("nan"))
    seen = progress.frames_seen
    with one_thread():
        for number, (pixels, labels) in ahead(shuffled.lesson, progress.lessons_done, n_lessons):
            with seeded(seed, number):
                right, done = 0, 0
                for start in range(0, len(labels), training.batch):
                    rows = slice(start, start + training.batch)
                    right += learner.learn(model(pixels[rows] / 255), labels[rows])
                    done += len(labels[rows])
                    if done >= _FRAMES_PER_REPORT or rows.stop >= len(labels):
                        on_progress(done, right / done)
                        right, done = 0, 0
            seen += len(labels)
            if checkpoint is not None:
                save_checkpoint(checkpoint, model, learner, Progress(number + 1, seen), described)
    return model.eval()


def check_frames(frames: Images | Video) -> None:
    """Refuse frames of another size, frames that the eleven outputs cannot name, or none at all."""
    check_size(frames)
    check.require(len(frames) > 0, "the training data", "hold at least one frame", len(frames))
    low, high = int(frames.labels.min()), int(frames.labels.max())
    must = "lie in 0 ... 10 (ten classes, and 10 for noise)"
    check.require(low >= 0 and high <= 10, "labels", must, low if low < 0 else high)
