"""What a trained network answers to images or to a video, in little memory."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.streaming.records import Images, Video
from springback_paper.baselines.models import SequenceModel, StillModel, check_size
from springback_paper.baselines.torch_state import one_thread


class Answer(NamedTuple):
    """A stretch of answers: `features` float32 (n, n_hidden), the input of the last layer; `logits` float32 (n, 11)."""

    features: NDArray[np.float32]
    logits: NDArray[np.float32]


@torch.inference_mode()
def respond(
    model: StillModel | SequenceModel, frames: Images | Video, *, frames_per_chunk: int = 4096
) -> Iterator[Answer]:
    """Features and logits of all frames in order, a chunk at a time; dropout is off.

    A recurrent network sees the frames as one continuous stream, its state carried over from the first to the last.

    Examples
    --------
    >>> from springback_paper.baselines.models import Mlp
    >>> black = Images(np.zeros((5, 28, 28), np.uint8), np.zeros(5, np.int64))
    >>> [part.features.shape for part in respond(Mlp(), black, frames_per_chunk=3)]
    [(3, 40), (2, 40)]
    """
    check_size(frames)
    check.integer("frames_per_chunk", frames_per_chunk, low=1)
    was_training, state = model.training, None
    model.eval()
    try:
        for start in range(0, len(frames), frames_per_chunk):
            stop = min(start + frames_per_chunk, len(frames))
            pixels = frames.pixels[start:stop] if isinstance(frames, Images) else frames.source(start, stop)
            with one_thread():
                x = torch.tensor(pixels) / 255
                if isinstance(model, StillModel):
                    features = model.features(x)
                else:
                    features, state = model.features(x.unsqueeze(1), state)
                    features = features.squeeze(1)
                answer = Answer(features.numpy(), model.head(features).numpy())
            yield answer
    finally:
        model.train(was_training)


def classify(model: StillModel | SequenceModel, frames: Images | Video) -> NDArray[np.int64]:
    """The class of each frame, 0 ... 10.

    Examples
    --------
    >>> from springback_paper.baselines.models import Lstm
    >>> classify(Lstm(), Images(np.zeros((5, 28, 28), np.uint8), np.zeros(5, np.int64))).shape
    (5,)
    """
    parts = [part.logits.argmax(axis=1) for part in respond(model, frames)]
    return np.concatenate([np.empty(0, np.int64), *parts])
