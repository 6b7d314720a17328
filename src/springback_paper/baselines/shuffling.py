"""Single frames in random order, a lesson at a time, in little memory."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import torch
from springback.streaming.records import Images, Video
from torch import Tensor


@dataclass(frozen=True)
class ShuffledFrames:
    """Images or the frames of a video, each once per epoch, in an order that follows from (seed, epoch).

    Images are one lesson, shuffled as a whole. A video of a million frames is never held: it is cut into blocks of
    4,000 frames; each lesson takes sixteen blocks from random places of the video and shuffles their frames.

    Examples
    --------
    >>> two = Images(np.zeros((2, 28, 28), np.uint8), np.array([3, 7]))
    >>> frames, labels = ShuffledFrames(two, seed=0).lesson(5)
    >>> frames.shape, sorted(labels.tolist())
    (torch.Size([2, 28, 28]), [3, 7])
    """

    source: Images | Video
    seed: int
    frames_per_block: int = 4000
    blocks_per_lesson: int = 16

    @property
    def lessons_per_epoch(self) -> int:
        """Into how many lessons an epoch is cut."""
        if isinstance(self.source, Images):
            return 1
        return -(-len(self.source) // (self.frames_per_block * self.blocks_per_lesson))

    @property
    def name(self) -> str:
        """Which data this is, so that training continues with the same."""
        if isinstance(self.source, Video):
            return f"{self.source.name}, {len(self.source)} frames"
        digest = hashlib.sha256(np.ascontiguousarray(self.source.pixels).data)
        digest.update(np.ascontiguousarray(self.source.labels).data)
        return f"{len(self.source)} images {digest.hexdigest()[:12]}"

    def lesson(self, number: int) -> tuple[Tensor, Tensor]:
        """Lesson `number` since the beginning: frames uint8 (n, height, width), labels int64 (n,)."""
        epoch, part = divmod(number, self.lessons_per_epoch)
        if isinstance(self.source, Images):
            frames, labels = self.source.pixels, self.source.labels
        else:
            frames, labels = self._blocks(self.source, epoch, part)
        order = np.random.default_rng([self.seed, epoch, part]).permutation(len(frames))
        return torch.from_numpy(frames[order]), torch.from_numpy(labels[order])

    def _blocks(self, video: Video, epoch: int, part: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        starts = np.arange(0, len(video), self.frames_per_block)
        order = np.random.default_rng([self.seed, epoch]).permutation(starts)
        taken = order[part * self.blocks_per_lesson : (part + 1) * self.blocks_per_lesson]
        stretches = [(int(start), min(int(start) + self.frames_per_block, len(video))) for start in taken]
        return (
            np.concatenate([video.source(*one) for one in stretches]),
            np.concatenate([video.labels[slice(*one)] for one in stretches]),
        )
