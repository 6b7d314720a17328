"""Pictures of another size, with a triangle filter that is widened when they shrink, so that nothing flickers."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


def resized(pictures: NDArray[Any], height: int, width: int) -> NDArray[np.float32]:
    """Pictures (T, height, width, channels) of another size, float32; pixels keep their range.

    Examples
    --------
    >>> resized(np.array([[0, 100], [0, 100]], np.uint8)[None, ..., None], 1, 2)[0, :, :, 0]
    array([[  0., 100.]], dtype=float32)
    """
    count, high, wide, depth = pictures.shape
    if (high, wide) == (height, width):
        return np.asarray(pictures, np.float32)
    found = np.empty((count, height, width, depth), np.float32)
    down, across = _filter(high, height), _filter(wide, width)
    for number, picture in enumerate(pictures):
        rows = (down @ picture.reshape(high, -1).astype(np.float32)).reshape(height, wide, depth)
        columns = across @ rows.transpose(1, 0, 2).reshape(wide, -1)
        found[number] = columns.reshape(width, height, depth).transpose(1, 0, 2)
    return found


@lru_cache(16)
def _filter(before: int, after: int) -> Any:
    """Weights of the old pixels in each new one, (after, before)."""
    scale = before / after
    reach = max(scale, 1.0)
    centres = (np.arange(after) + 0.5) * scale - 0.5
    first = np.ceil(centres - reach).astype(np.int64)
    taps = first[:, None] + np.arange(int(np.floor(2 * reach)) + 2)
    weights = np.maximum(0.0, 1 - np.abs(taps - centres[:, None]) / reach)
    weights[(taps < 0) | (taps >= before)] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(after), taps.shape[1])
    kept = weights.reshape(-1) > 0
    places = (rows[kept], taps.reshape(-1)[kept])
    return csr_array((weights.reshape(-1)[kept].astype(np.float32), places), shape=(after, before))
