"""The videos of this project through the paper's CNN: digits that are occluded or turn, occluded clothing."""

from functools import partial
from pathlib import Path

import numpy as np

from springback.data.catalogue import Report
from springback.data.omnist import NoiseObject, Omnist, make_omnist
from springback.streaming.records import Images, Video
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.drift import make_drift, turning
from springback_bench.stream_sets.record import StreamSplit

SOURCE = "MNIST (CC BY-SA 3.0); the paper's CNN, which springback is shipped with."
_SOURCE_OF_CLOTHING = "Fashion-MNIST (MIT); the paper's CNN, trained here."


def _make(split: int, home: Path, report: Report, *, name: str) -> StreamSplit:
    from springback_bench.stream_sets._image_network import Film, image_split

    def film(images: Images, seed: int) -> Film:
        video = _video(name, images, seed)
        objects = np.cumsum(np.diff(video.digit, prepend=video.digit[:1]) != 0)  # noise is an object, too
        return Film((part.frames for part in video.chunks()), video.labels, objects)

    return image_split(name, split, film, home, report, clothing=name == "fashion")


def _video(name: str, images: Images, seed: int) -> Video:
    if name == "turning":
        return make_drift(images, seed=seed, params=turning())
    noise = NoiseObject(n_frames=0) if name == "unseparated" else NoiseObject()
    return make_omnist(images, seed=seed, params=Omnist(noise=noise))


STREAM_SETS = tuple(
    StreamSet(
        name=name,
        title=title,
        splits=3,
        make=partial(_make, name=name),
        real=False,
        needs=("torch",),
        source=_SOURCE_OF_CLOTHING if name == "fashion" else SOURCE,
        step="1 frame",
    )
    for name, title in (
        ("omnist", "Which digit is being occluded, with noise between digits?"),
        ("turning", "Which digit is turning, with noise between digits?"),
        ("unseparated", "Which digit is being occluded, if nothing separates the digits?"),
        ("fashion", "Which article of clothing is being occluded, with noise between articles?"),
    )
)
