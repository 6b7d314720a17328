"""Digits that go out of sight and return: streams that need memory.

In `hidden-gap` a digit is covered from the top until nothing of it is left, stays wholly hidden for 3 to 20 frames, and
returns with most of it still covered. Frames without a trace of it have the class of the digit behind the occluder, so
only memory can answer them. In `distractors` a digit is partly covered, then 1 to 5 digits of other classes are shown
for 3 to 20 frames in all, and then the first one returns, mostly covered.

There is no noise between digits, and the head is without the class of noise: the network answers noise to every empty
frame, so a method would be wrong about hidden digits for trusting it.

`Stream.objects` tells what a frame shows: a digit has the same number before and after the gap, and the occluder alone
and each distractor have numbers of their own. `Stream.frames_away` is therefore the length of the gap in each frame
after a return, and 0 elsewhere.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from springback.data.catalogue import Report
from springback.streaming.records import Images
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.digits import SOURCE
from springback_bench.stream_sets.record import StreamSplit

_SIDE = 28
_GAP_MIN, _GAP_MAX = 3, 20
_COVERING = tuple(range(0, 25, 3))
"""Rows hidden in each frame until the digit is gone."""

_PARTLY_COVERING = tuple(range(0, 19, 3))
_RETURN = (22, 19, 19, 19, 19)
_DISTRACTOR_FRAMES = 4
_AT_ONCE = 4096


class Scene:
    """The frames of a stream: an image and how many of its rows are hidden, what is seen, and the class."""

    def __init__(self) -> None:
        self.image: list[int] = []
        self.rows: list[int] = []
        self.objects: list[int] = []
        self.labels: list[int] = []
        self.new_object = count().__next__

    def show(self, image: int, rows: Iterable[int], label: int, number: int) -> None:
        """Add frames of an image."""
        rows = list(rows)
        self.image += [image] * len(rows)
        self.rows += rows
        self.labels += [label] * len(rows)
        self.objects += [number] * len(rows)

    def frames(self, images: Images) -> Iterator[NDArray[np.uint8]]:
        """The frames in chunks, uint8 (n, 28, 28)."""
        image, rows = np.array(self.image), np.array(self.rows)
        for start in range(0, len(image), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            yield images.pixels[image[some]] * (np.arange(_SIDE)[:, None] >= rows[some, None, None])


def hidden_gap(images: Images, rng: np.random.Generator) -> Scene:
    """Each digit is covered, stays out of sight for 3 to 20 frames, and returns."""
    scene = Scene()
    for image, gap in enumerate(rng.integers(_GAP_MIN, _GAP_MAX, len(images), endpoint=True)):
        label, number = int(images.labels[image]), scene.new_object()
        scene.show(image, _COVERING, label, number)
        scene.show(image, [_SIDE] * gap, label, scene.new_object())
        scene.show(image, _RETURN, label, number)
    return scene


def distractors(images: Images, rng: np.random.Generator) -> Scene:
    """Each digit returns after digits of other classes were shown for 3 to 20 frames."""
    scene = Scene()
    for image, gap in enumerate(rng.integers(_GAP_MIN, _GAP_MAX, len(images), endpoint=True)):
        label, number = int(images.labels[image]), scene.new_object()
        scene.show(image, _PARTLY_COVERING, label, number)
        others = np.flatnonzero(images.labels != label)
        for part in np.array_split(np.arange(gap), -(-gap // _DISTRACTOR_FRAMES)):
            other = int(rng.choice(others))
            scene.show(other, _PARTLY_COVERING[: len(part)], int(images.labels[other]), scene.new_object())
        scene.show(image, _RETURN, label, number)
    return scene


_SCENES = {"hidden-gap": hidden_gap, "distractors": distractors}


def _make(split: int, home: Path, report: Report, *, name: str) -> StreamSplit:
    from springback_bench.stream_sets._image_network import Film, image_split

    def film(images: Images, seed: int) -> Film:
        scene = _SCENES[name](images, np.random.default_rng(seed))
        return Film(scene.frames(images), np.array(scene.labels), np.array(scene.objects))

    return image_split(name, split, film, home, report, knows_noise=False)


STREAM_SETS = tuple(
    StreamSet(
        name=name,
        title=title,
        splits=3,
        make=partial(_make, name=name),
        real=False,
        needs=("torch",),
        source=SOURCE,
        step="1 frame",
    )
    for name, title in (
        ("hidden-gap", "Which digit is behind the occluder, wholly hidden for 3 to 20 frames?"),
        ("distractors", "Which digit returns, mostly covered, after other digits were shown for 3 to 20 frames?"),
    )
)
