"""Drawings as MNIST digits: fitted into 20 x 20 pixels, antialiased, and centred by mass in 28 x 28."""

import numpy as np
from numpy.typing import NDArray

from springback import check

PAD_SIDE = 112
"""Height and width of a drawing in pixels."""

_SIDE, _BOX = 28, 20


def fitted(drawing: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A drawing (112, 112), 0 for paper and 255 for ink, as a frame (28, 28).

    Examples
    --------
    >>> stroke = np.zeros((112, 112), np.uint8)
    >>> stroke[10:90, 60:64] = 255
    >>> rows = np.flatnonzero(fitted(stroke).any(axis=1))
    >>> int(rows[0]), int(rows[-1])
    (4, 23)
    """
    check.array("drawing", drawing, shape=(PAD_SIDE, PAD_SIDE), dtype=np.uint8)
    ink = drawing.astype(np.float64)
    if not ink.any():
        return np.zeros((_SIDE, _SIDE), np.uint8)
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    shape = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = _BOX / max(shape.shape)
    small = _resized(_resized(shape, scale).T, scale).T
    top, left = (_start(small.sum(axis=other), len(small) if other else small.shape[1]) for other in (1, 0))
    frame = np.zeros((_SIDE, _SIDE))
    frame[top : top + small.shape[0], left : left + small.shape[1]] = small
    brightest = frame.max()
    return np.asarray(np.rint(frame * (255 / brightest)), np.uint8)


def _resized(rows: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Rows averaged over area: row i of the result covers `i / scale ... (i + 1) / scale` of those given."""
    n = max(round(len(rows) * scale), 1)
    edges = np.linspace(0, len(rows), n + 1)
    total = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    below = np.minimum(edges.astype(int), len(rows) - 1)
    at_edges = total[below] + (edges - below)[:, None] * rows[below]
    return np.asarray(np.diff(at_edges, axis=0) / np.diff(edges)[:, None])


def _start(mass: NDArray[np.float64], length: int) -> int:
    """Where a shape must begin to have its centre of mass in the middle of the frame, as far as it stays inside."""
    centre = float((np.arange(length) + 0.5) @ mass / mass.sum())
    return int(np.clip(round(_SIDE / 2 - centre), 0, _SIDE - length))
