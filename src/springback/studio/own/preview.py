"""What the page shows of a frame: a small picture, the outline of a sound, or some of the channels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDEST = 192
"""The largest width or height of a picture that is sent to the page."""

OUTLINE = 256
"""How many pairs of smallest and largest sample a sound is sent as."""

CHANNELS_MAX = 32


def preview(kind: str, frame: NDArray[Any]) -> tuple[dict[str, Any], bytes]:
    """A description of the frame, and its bytes; pictures are RGB, sounds signed bytes, rows have none.

    Examples
    --------
    >>> preview("rows", np.array([1.0, 2.5]))
    ({'kind': 'rows', 'of': 2, 'values': [1.0, 2.5]}, b'')
    >>> preview("pictures", np.zeros((400, 600, 3), np.uint8))[0]
    {'kind': 'pictures', 'height': 100, 'width': 150}
    """
    if kind == "pictures":
        small = np.ascontiguousarray(_reduced(np.asarray(frame, np.uint8)))
        return {"kind": kind, "height": small.shape[0], "width": small.shape[1]}, small.tobytes()
    if kind == "sound":
        parts = np.array_split(np.asarray(frame, np.float64).ravel(), min(OUTLINE, frame.size))
        pairs = np.array([(part.min(), part.max()) for part in parts])
        codes = np.rint(127 * np.clip(pairs, -1, 1)).astype(np.int8)
        return {"kind": kind, "pairs": len(codes)}, codes.tobytes()
    row = np.asarray(frame, np.float64).ravel()
    values = [float(f"{one:.5g}") for one in row[:CHANNELS_MAX]]
    return {"kind": "rows", "of": row.size, "values": values}, b""


def _reduced(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Means over squares of pixels, so that the picture is at most `WIDEST` wide and high."""
    side = -(-max(picture.shape[:2]) // WIDEST)
    high, wide = (size // side for size in picture.shape[:2])
    squares = picture[: high * side, : wide * side].reshape(high, side, wide, side, -1)
    means: NDArray[np.uint8] = squares.mean(axis=(1, 3), dtype=np.float32).astype(np.uint8)
    return np.repeat(means, 3, axis=2) if means.shape[2] == 1 else means[:, :, :3]
