"""The bias of the linear model that belongs to a prior probability (Section S4.1)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.elastic._sphere import bias_table


@njit(cache=True)
def circle_bias_of(prior: float) -> float:
    """`circle_bias` of one number: with G0 = -cos(phi), Eq. S39 is P = sin(phi) - phi cos(phi); by Newton's method."""
    if prior <= 0.0:
        return -1.0
    if prior >= 1.0:
        return 0.0
    phi = min((3.0 * prior) ** (1.0 / 3.0), 1.5)
    for _ in range(30):
        move = (np.sin(phi) - phi * np.cos(phi) - prior) / (phi * np.sin(phi))
        phi -= move
        if abs(move) < 1e-15 * phi:
            break
    return float(-np.cos(phi))


@njit(cache=True)
def sphere_bias_of(prior: float, table: Any) -> float:
    """`sphere_bias` of one number: read from the table of `springback.elastic._sphere`."""
    if prior <= 0.0:
        return -1.0
    at = np.log(prior)
    # The first entry that is not below; NumPy's own search takes longer to compile than all of this.
    place, end = 0, table.shape[1]
    while place < end:
        middle = (place + end) // 2
        if table[0, middle] < at:
            place = middle + 1
        else:
            end = middle
    if place == 0:
        return float(table[1, 0])
    if place >= table.shape[1]:
        return 0.0
    x0, y0, d0 = table[0, place - 1], table[1, place - 1], table[2, place - 1]
    x1, y1, d1 = table[0, place], table[1, place], table[2, place]
    width = x1 - x0
    s = (at - x0) / width
    r = 1 - s
    return float((1 + 2 * s) * r * r * y0 + (1 + 2 * r) * s * s * y1 + width * s * r * (r * d0 - s * d1))


def sphere_bias(prior: NDArray[Any], n_features: int) -> NDArray[np.float64]:
    """The bias that gives each class its prior on the unit sphere of `n_features` features.

    Examples
    --------
    >>> sphere_bias(np.array([1 / 400, 1.0]), 784).round(4) + 0.0
    array([-0.0969,  0.    ])
    """
    prior = np.asarray(prior, np.float64)
    table = bias_table(n_features)
    return np.array([sphere_bias_of(p, table) for p in prior.ravel()]).reshape(prior.shape)


def circle_bias(prior: NDArray[Any]) -> NDArray[np.float64]:
    """The bias that gives each class its prior on the circle, that is for two features.

    It is `P = sqrt(1 - G0^2) + G0 arccos(-G0)` (Eq. S39) solved for G0. With more features, most inputs are nearly
    orthogonal to a centroid, and this bias gives a class less than its prior; see `sphere_bias`.

    Examples
    --------
    >>> circle_bias(np.array([0.0, 0.5, 1.0])).round(4)
    array([-1.  , -0.36,  0.  ])
    """
    prior = np.asarray(prior, np.float64)
    return np.array([circle_bias_of(p) for p in prior.ravel()]).reshape(prior.shape)


def line_bias(prior: NDArray[Any]) -> NDArray[np.float64]:
    """The paper's straight line in place of `circle_bias`: `G0 = P - 1` (Eqs. S40 and S66).

    It is always below the bias on the circle: by at most 0.159, and by 0.017 for one of 400 equally likely classes.

    Examples
    --------
    >>> line_bias(np.array([0.25, 1.0]))
    array([-0.75,  0.  ])
    """
    return np.asarray(np.asarray(prior, np.float64) - 1.0)
