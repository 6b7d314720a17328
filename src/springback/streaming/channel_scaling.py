"""Raw channels in comparable units: a centre and a spread for each, measured from training rows.

Elastic models compare rows by their direction. Raw sensor rows often all point the same way, because of gravity or
another offset, or follow the channel with the largest unit. Then each channel has to be centred and divided by its
spread first. Rows that are directions already (embeddings of equal length, images, histograms) are left alone.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from springback import check

ScalingRule = Literal["auto", "standard"] | None

NARROW_CONE = 0.1
"""Rows point the same way if their mean distance 1 - cos is below this."""

UNLIKE_UNITS = 0.55
"""Channels have different units if the logarithms of their spreads deviate by more than this (images and features of
networks: up to 0.5; accelerations in m/s^2 beside angles per second: 1.2)."""

EQUAL_LENGTHS = 0.001
"""Rows that do not point the same way are directions already if their lengths deviate by less than this share."""

_MOST_ROWS = 10_000
_CONSTANT = 1e-7


@dataclass(frozen=True, eq=False)
class Channels:
    """What is subtracted from each channel, and by what it is divided, float64 (n,).

    Examples
    --------
    >>> Channels(np.array([9.8, 0.0]), np.array([0.1, 2.0])).scaled(np.array([[10.0, 1.0], [0.0, 0.0]]))
    array([[2. , 0.5],
           [0. , 0. ]])
    """

    centre: NDArray[np.float64]
    spread: NDArray[np.float64]

    def __post_init__(self) -> None:
        check.array("centre", self.centre, shape=(None,), dtype=np.float64)
        check.array("spread", self.spread, shape=self.centre.shape, dtype=np.float64)
        check.require(bool((self.spread > 0).all()), "spread", "be > 0 everywhere", self.spread.min(initial=1))

    def scaled(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows (..., n) in these units, of the same dtype; a row of zeros, which stands for a missing one, stays."""
        scaled = ((rows - self.centre) / self.spread).astype(rows.dtype, copy=False)
        return np.where(rows.any(axis=-1, keepdims=True), scaled, scaled.dtype.type(0))


def measure_channels(rows: NDArray[Any], how: ScalingRule = "auto") -> Channels | None:
    """Centre and spread of rows (N, n), or None if they are to be left as they are.

    Parameters
    ----------
    how : ScalingRule
        "auto": only if rows all point nearly the same way, or if their channels have different units. "standard":
        always. None: never.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> acceleration = np.array([1.0, 0.3, 9.8]) + rng.normal(0, 0.2, (100, 3))
    >>> measure_channels(acceleration).centre.round(1)
    array([1. , 0.3, 9.8])
    >>> measure_channels(rng.normal(size=(100, 3))) is None
    True
    """
    if how is None:
        return None
    check.one_of("scaling", how, ("auto", "standard"))
    seen = np.asarray(rows[rows.any(axis=1)], np.float64)
    if len(seen) < 2 or (how == "auto" and not needs_scale(seen)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        centre, spread = seen.mean(axis=0), seen.std(axis=0)
    fits = bool(np.isfinite(centre).all() and np.isfinite(spread).all())
    check.require(fits, "X", "be small enough to compute the spread of its channels", "numbers near 1e308")
    constant = spread <= _CONSTANT * np.abs(seen).max(axis=0)
    return Channels(centre, np.where(constant, 1.0, spread))


def needs_scale(rows: NDArray[np.float64]) -> bool:
    """Whether rows (N, n), none of them zero, must be scaled before their directions tell anything.

    Examples
    --------
    >>> needs_scale(np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0]]))
    False
    """
    some = rows[:: max(1, len(rows) // _MOST_ROWS)]
    some = some / np.abs(some).max()
    lengths = np.linalg.norm(some, axis=1)
    if not lengths.all():
        return False
    mean = (some / lengths[:, None]).mean(axis=0)
    if 1 - mean @ mean < NARROW_CONE:
        return True
    if lengths.std() <= EQUAL_LENGTHS * lengths.mean():
        return False
    spread = some.std(axis=0)[(some != 0).mean(axis=0) > 0.5]
    spread = spread[spread > _CONSTANT]
    return bool(len(spread) > 1 and np.log(spread).std() > UNLIKE_UNITS)
