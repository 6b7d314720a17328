"""Photographs under corruptions that come and go, for a small network that has seen clean photographs alone.

Every frame is another photograph of CIFAR-10. One kind of corruption after another becomes stronger and weaker again,
within 500 frames. In the correlated order, a class comes in runs of 5 to 15 frames, as on a walk; in the i.i.d. order,
the same photographs come in random order, so that only the corruption is the same from frame to frame. The kinds of
corruption on which settings are chosen are not those of the test.

`corrupted_frames` gives the frames themselves with the network, for methods that adapt more than its last layer.
"""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.data.catalogue import Report, folder_of
from springback.extras import require_extra
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.cifar import CIFAR_SOURCE, Photographs, training_photographs, unseen_photographs
from springback_bench.stream_sets.corruption import CORRUPTIONS, corrupted
from springback_bench.stream_sets.record import Head, Stream, StreamSplit

if TYPE_CHECKING:
    from springback_bench.stream_sets._resnet import GroupNormResNet

SPLITS = 3
FRAMES_PER_KIND = 500
_TRAINING, _FOR_CENTRE = 50_000, 5_000
_VALIDATION_KINDS = 3
_RUNS = (5, 15)
_NAMES = ("corruptions-correlated", "corruptions-iid")


class ShownPhotographs(NamedTuple):
    """Frames in the order of time, uint8 (T, 32, 32, 3), with what they show and which photograph it is, (T,)."""

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]
    objects: NDArray[np.int64]


class CorruptedFrames(NamedTuple):
    """The trained network, and the frames of both parts of a split; `as_input` of its module prepares frames."""

    model: "GroupNormResNet"
    validation: ShownPhotographs
    test: ShownPhotographs


def corrupted_frames(
    name: str = "corruptions-correlated",
    split: int = 0,
    *,
    data_home: str | os.PathLike[str] | None = None,
    report: Report = lambda _: None,
) -> CorruptedFrames:
    """The network and the frames of a split, whose features `load_stream(name, split)` gives.

    The network expects frames as float32 (N, 3, 32, 32) between 0 and 1. Each call returns a network of its own, which
    may be adapted.

    Parameters
    ----------
    name : str
        "corruptions-correlated" or "corruptions-iid".
    split : int
        0, 1 or 2.

    Examples
    --------
    >>> corrupted_frames("corruptions-random")
    Traceback (most recent call last):
    ValueError: name must be one of 'corruptions-correlated', 'corruptions-iid'; got 'corruptions-random'
    """
    check.one_of("name", name, _NAMES)
    check.integer("split", split, low=0, high=SPLITS - 1)
    require_extra(f"the stream {name}", "torch")
    home = folder_of(data_home)
    parts = frames_of(unseen_photographs(home, report), split, in_runs=name == _NAMES[0])
    return CorruptedFrames(_network(home, report), *parts)


def _make(split: int, home: Path, report: Report, *, name: str) -> StreamSplit:
    from springback_bench.stream_sets import _resnet

    model, *parts = corrupted_frames(name, split, data_home=home, report=report)
    seen = training_photographs(_FOR_CENTRE, home, report).pixels
    weight, bias = (values.detach().numpy().copy() for values in (model.last.weight, model.last.bias))
    head = Head(weight=weight, bias=bias, centre=_resnet.features_of(model, seen).mean(axis=0))
    streams = [
        Stream(
            features=_resnet.features_of(model, frames.pixels),
            labels=frames.labels,
            times=np.arange(len(frames.labels), dtype=np.float64),
            objects=frames.objects,
        )
        for frames in parts
    ]
    return StreamSplit(name=name, split=split, head=head, validation=(streams[0],), test=(streams[1],))


def _network(home: Path, report: Report) -> "GroupNormResNet":
    """The network for clean photographs; trained on first use, which takes some twelve minutes of one core."""
    from springback_bench.stream_sets import _resnet

    def train() -> dict[str, NDArray[np.float32]]:
        return _resnet.get_weights(_resnet.trained(training_photographs(_TRAINING, home, report), report))

    return _resnet.with_weights(kept(home, "corruptions-network", train))


def frames_of(photographs: Photographs, split: int, *, in_runs: bool) -> tuple[ShownPhotographs, ShownPhotographs]:
    """The frames for validation and for the test: other photographs, under other kinds of corruption."""
    rng = np.random.default_rng(split)
    kinds = rng.permutation(sorted(CORRUPTIONS))
    chosen = rng.permutation(len(photographs.pixels))
    parts, start = [], 0
    for some in (kinds[:_VALIDATION_KINDS], kinds[_VALIDATION_KINDS:]):
        count = len(some) * FRAMES_PER_KIND
        objects = chosen[start : start + count]
        if in_runs:
            objects = runs(objects, photographs.labels, rng)
        severities = np.tile(rising_and_falling(FRAMES_PER_KIND), len(some))
        schedule = zip(objects, np.repeat(some, FRAMES_PER_KIND), severities, strict=True)
        pixels = [corrupted(photographs.pixels[one], str(kind), severity, rng) for one, kind, severity in schedule]
        parts.append(ShownPhotographs(np.stack(pixels), photographs.labels[objects], objects))
        start += count
    return parts[0], parts[1]


def rising_and_falling(count: int) -> NDArray[np.float64]:
    """Severities from 0 to 1 and back to 0.

    Examples
    --------
    >>> rising_and_falling(5).tolist()
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    return np.asarray(1 - np.abs(np.linspace(-1, 1, count)), np.float64)


def runs(objects: NDArray[np.int64], labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The same objects, reordered so that a class comes in runs, which are in random order."""
    found: list[NDArray[np.int64]] = []
    for label in np.unique(labels[objects]):
        members = objects[labels[objects] == label]
        lengths = rng.integers(_RUNS[0], _RUNS[1] + 1, len(members))
        found += [run for run in np.split(members, np.cumsum(lengths)) if len(run)]
    return np.concatenate([found[number] for number in rng.permutation(len(found))])


_SOURCE = f"{CIFAR_SOURCE}; a residual network with group normalisation that springback trains on its training set."

STREAM_SETS = (
    StreamSet(
        name=_NAMES[0],
        title="What does each photograph show under corruptions that come and go, if classes come in runs?",
        splits=SPLITS,
        make=partial(_make, name=_NAMES[0]),
        real=False,
        needs=("torch",),
        source=_SOURCE,
        step="another photograph",
    ),
    StreamSet(
        name=_NAMES[1],
        title="What does each photograph show under corruptions that come and go, in random order?",
        splits=SPLITS,
        make=partial(_make, name=_NAMES[1]),
        real=False,
        needs=("torch",),
        source=_SOURCE,
        step="another photograph",
    ),
)
