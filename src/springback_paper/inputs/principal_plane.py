"""The plane in which a cloud of points varies most."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def principal_plane(points: Floats) -> tuple[Floats, Floats, float]:
    """The mean of points (n, d), their first two principal components (d, 2), and the share of the variance in these.

    The sign of a component is such that the last point has a positive coordinate.

    Examples
    --------
    >>> centre, plane, explained = principal_plane(np.array([[0.0, 1.0, 5.0], [2.0, 1.0, 5.0], [4.0, 1.0, 5.0]]))
    >>> centre, plane[:, 0].round(6), round(explained)
    (array([2., 1., 5.]), array([1., 0., 0.]), 1)
    """
    centre = points.mean(axis=0)
    _, lengths, components = np.linalg.svd(points - centre, full_matrices=False)
    plane = components[:2].T
    plane = plane * np.where((points[-1] - centre) @ plane < 0, -1.0, 1.0)
    return centre, plane, float((lengths[:2] ** 2).sum() / max((lengths**2).sum(), 1e-300))
