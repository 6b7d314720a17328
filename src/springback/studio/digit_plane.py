"""The plane on which the page shows inputs and units: the first two principal components of the shipped digits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.elastic.principal_plane import principal_plane
from springback.studio.pair import Floats


class Plane(NamedTuple):
    """`centre` (features,), `axes` (features, 2), `explained` share of the variance, `points` (n, 2) of the digits."""

    centre: NDArray[np.float64]
    axes: NDArray[np.float64]
    explained: float
    points: NDArray[np.float64]

    def place(self, vectors: Floats) -> NDArray[np.float64]:
        """Positions of the directions of vectors (n, features) on the plane, (n, 2)."""
        return np.asarray((directions(vectors) - self.centre) @ self.axes)


def plane_of(vectors: Floats) -> Plane:
    """The plane of the directions of vectors (n, features), because elastic clustering compares directions.

    Examples
    --------
    >>> plane_of(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [3.0, 4.0, 0.0]])).points.shape
    (3, 2)
    """
    unit = directions(vectors)
    centre, axes, explained = principal_plane(unit)
    return Plane(centre, axes, explained, (unit - centre) @ axes)


def directions(vectors: Floats) -> NDArray[np.float64]:
    """Vectors scaled to length one; zero stays zero.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    wide = np.asarray(vectors, np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=-1, keepdims=True), 1e-12))
