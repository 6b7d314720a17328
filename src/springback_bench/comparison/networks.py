"""Methods that adapt the network itself, on the streams of corrupted photographs: they read frames, not features."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from springback_bench.comparison.measure import Measured, answer_test, chosen, loaded
from springback_bench.comparison.methods import rival_named
from springback_bench.comparison.scope import ComparisonScope, cut
from springback_bench.stream_sets import Stream, StreamSplit
from springback_bench.stream_sets.corruptions import CorruptedFrames, ShownPhotographs, corrupted_frames
from springback_paper.baselines.torch_state import one_thread

FRAME_SHAPE = (3, 32, 32)


@lru_cache(maxsize=1)
def _frames(name: str, split: int) -> CorruptedFrames:
    return corrupted_frames(name, split)


def measure_network(name: str, split: int, version: int, method: str, scope: ComparisonScope) -> Measured:  # noqa: ARG001
    """A method that adapts the network; `version` is that of the stream."""
    return network_on(loaded(name, split), _frames(name, split), method, scope)


def network_on(split: StreamSplit, film: CorruptedFrames, method: str, scope: ComparisonScope) -> Measured:
    """The same on a split, whose features are those of the frames."""
    rival = rival_named(method)
    make = partial(cast(Any, rival.method), film.model, FRAME_SHAPE)
    validation = cut((_as_stream(film.validation),), scope.network_validation)
    with one_thread():
        frozen = [split.head.logits(one.features) for one in cut(split.validation, scope.network_validation)]
        about = chosen(make, rival.ranges, _as_frames, validation, at_rest=frozen, trials=scope.network_trials)
        test = (_as_stream(film.test),)
        fewer = replace(scope, timed=scope.network_timed)
        return answer_test(make(**about["settings"]), _as_frames, split, fewer, test=test, **about)


def _as_stream(frames: ShownPhotographs) -> Stream:
    """Frames as a stream whose features are their pixels, between 0 and 1, channel by channel."""
    pixels = frames.pixels.transpose(0, 3, 1, 2).reshape(len(frames.pixels), -1)
    return Stream(
        features=np.ascontiguousarray(pixels, np.float32) / np.float32(255),
        labels=frames.labels,
        times=np.arange(len(pixels), dtype=np.float64),
        objects=frames.objects,
    )


def _as_frames(stream: Stream) -> NDArray[np.float32]:
    return stream.features.reshape(-1, *FRAME_SHAPE)
