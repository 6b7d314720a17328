"""Videos as an event camera sees them: pixels report changes of their brightness, brighter or darker, and nothing else.

A pixel that changes by many levels from one frame to the next reports many events, at random times within the frame.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

EVENT = np.dtype([("t", np.int64), ("x", np.int16), ("y", np.int16), ("p", np.bool_)])
"""An event as tonic has it: the time in microseconds, column, row, and whether the pixel became brighter."""


def change_events(
    frames: NDArray[np.uint8],
    *,
    before: NDArray[np.uint8] | None = None,
    levels_per_event: float = 8.0,
    frame_ms: float = 350.0,
    seed: Any = 0,
) -> NDArray[np.void]:
    """The events of frames (n, height, width), sorted by time; frame i begins at `i * frame_ms`.

    Parameters
    ----------
    before : NDArray[np.uint8] | None
        The frame before the first one, (height, width); None: a dark one.
    levels_per_event : float
        By how many of the 255 levels of brightness a pixel changes for each event.
    seed : Any
        Draws the times, as `numpy.random.default_rng` takes it.

    Examples
    --------
    >>> frames = np.array([[[0, 80]], [[40, 80]], [[40, 0]]], np.uint8)
    >>> events = change_events(frames, levels_per_event=40.0, frame_ms=1.0)
    >>> events["x"].tolist(), events["p"].tolist()
    ([1, 1, 0, 1, 1], [True, True, True, False, False])
    """
    check.array("frames", frames, shape=(None, None, None), dtype=np.uint8)
    check.real("levels_per_event", levels_per_event, above=0)
    check.real("frame_ms", frame_ms, above=0)
    start = np.zeros(frames.shape[1:], np.uint8) if before is None else before
    check.array("before", start, shape=frames.shape[1:], dtype=np.uint8)
    change = np.diff(frames.astype(np.int16), axis=0, prepend=start.astype(np.int16)[None])
    n_events = np.rint(np.abs(change) / levels_per_event).astype(np.int64)
    frame, row, column = np.repeat(np.indices(frames.shape).reshape(3, -1), n_events.ravel(), axis=1)
    events = np.empty(len(frame), EVENT)
    within = np.random.default_rng(seed).random(len(frame))
    events["t"] = ((frame + within) * frame_ms * 1000).astype(np.int64)
    events["x"], events["y"], events["p"] = column, row, change[frame, row, column] > 0
    return events[np.argsort(events["t"], kind="stable")]
