"""A search on your own images: a network that learns from some of them, and two streams to score settings on."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.data import make_omnist
from springback.data.omnist import omnist_2020
from springback.spiking.fitting import OnProgress, train_model
from springback.spiking.model import SpikingModel
from springback.spiking.presets import Preset
from springback.streaming.readout import classes_in, no_answer
from springback.streaming.records import Images

_HELD_OUT = 5
"""One image in this many is not learned from, if the streams are made of the images."""


@dataclass(frozen=True, kw_only=True)
class OwnImages:
    """What a search on your own images depends on: which they are, their size and their mean brightness."""

    digest: str
    n_inputs: int
    brightness: float

    def __post_init__(self) -> None:
        check.integer("OwnImages.n_inputs", self.n_inputs, low=1, high=10**6)
        check.real("OwnImages.brightness", self.brightness, above=0, high=255)


class ShownStream(NamedTuple):
    """A stream: frames (T, ...), and the right answer to each of them, (T,)."""

    frames: NDArray[np.uint8]
    labels: NDArray[Any]


class OwnNetwork(NamedTuple):
    """A trained network, and the streams of the trials and of the finalists."""

    model: SpikingModel
    streams: tuple[ShownStream, ShownStream]


def own_images(images: Images, frames: ShownStream | None) -> OwnImages:
    """What a search on these depends on.

    Examples
    --------
    >>> own_images(Images(np.full((2, 2, 2), 9, np.uint8), np.array([0, 1])), None).brightness
    9.0
    """
    digest = hashlib.sha256()
    for part in (images.pixels, images.labels, *(frames or ())):
        digest.update(np.ascontiguousarray(part).data)
    check.require(bool(images.pixels.any()), "images", "have a pixel that is not dark", "black images")
    brightness = float(images.pixels.mean())
    return OwnImages(digest=digest.hexdigest(), n_inputs=images.pixels[0].size, brightness=brightness)


def own_network(
    images: Images,
    frames: ShownStream | None,
    preset: Preset,
    *,
    n_train: int,
    n_shown: int,
    seed: int,
    checkpoint: Path,
    on_progress: OnProgress,
) -> OwnNetwork:
    """Learn from the images, and take both streams from the frames, or make them of images that are not learned from.

    Parameters
    ----------
    frames : Shown | None
        Its first half is for the trials, the other for the finalists.
    n_shown : int
        Images in the stream of the trials; up to three times as many are in the other.
    """
    order = np.random.default_rng([seed, len(images)]).permutation(len(images))
    classes = classes_in(images.labels)
    if frames is None:
        held = order[: len(images) // _HELD_OUT]
        check.require(len(held) >= 2, "images", f"be at least {2 * _HELD_OUT}, if no frames are given", len(images))
        n_first = min(n_shown, max(1, len(held) // 4))
        parts = held[:n_first], held[n_first : n_first + 3 * n_shown]
        streams = [_occluded(images[part], no_answer(classes), seed + number) for number, part in enumerate(parts)]
        order = order[len(held) :]
    else:
        middle = len(frames.labels) // 2
        check.require(middle > 0, "frames", "be at least 2", len(frames.labels))
        streams = [
            ShownStream(frames.frames[half], frames.labels[half]) for half in (slice(middle), slice(middle, None))
        ]
    model = train_model(
        images[order[:n_train]],
        preset,
        classes=classes,
        seed=seed,
        data="own images",
        checkpoint=checkpoint,
        on_progress=on_progress,
    )
    return OwnNetwork(model, (streams[0], streams[1]))


def _occluded(images: Images, nothing: Any, seed: int) -> ShownStream:
    """The images one after another, each slowly occluded, with noise in between; noise shows no class."""
    plain = Images(images.pixels, np.zeros(len(images), np.int64))
    video = make_omnist(plain, seed=seed, params=omnist_2020((plain.pixels.shape[1], plain.pixels.shape[2])))
    labels = images.labels[np.maximum(video.digit, 0)]
    kind = np.result_type(labels.dtype, np.asarray(nothing).dtype)
    return ShownStream(video.frames, np.where(video.digit < 0, nothing, labels).astype(kind))
