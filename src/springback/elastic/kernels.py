"""Decay kernels f(t): the odds that what was seen `t` steps ago is seen again (Assumption 7 of the supplement).

`Exponential` and `ExponentialSum` are computed by a recursion whose cost does not depend on the past; `Windowed` takes
any function and remembers a limited number of frames.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check


@dataclass(frozen=True, kw_only=True)
class Exponential:
    """f(t) = odds * exp(-t / memory); the paper's lambda is 1 / memory.

    Algorithm 1 relaxes by `F -= lambda F`; a step of that size is `memory = -1 / ln(1 - lambda)`.

    Parameters
    ----------
    memory : float
        Time constant, in steps (or in the unit of the time stamps).
    odds : float
        f(0); only its ratio to `beta` matters.

    Examples
    --------
    >>> Exponential(memory=2.0)(2.0).round(4)
    np.float64(0.3679)
    """

    memory: float
    odds: float = 1.0

    def __post_init__(self) -> None:
        check.real("Exponential.memory", self.memory, above=0)
        check.real("Exponential.odds", self.odds, above=0)

    def __call__(self, lag: Any) -> Any:
        """The decay f at the given lags, in steps."""
        return self.odds * np.exp(-np.asarray(lag, np.float64) / self.memory)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each exponential."""
        return (self.odds,)

    @property
    def memories(self) -> tuple[float, ...]:
        """The memory of each exponential, in steps."""
        return (self.memory,)


@dataclass(frozen=True, kw_only=True)
class ExponentialSum:
    """f(t) = sum_m weights[m] * exp(-t / memories[m]): fast and slow forgetting at once.

    Examples
    --------
    >>> ExponentialSum(weights=(0.5, 0.5), memories=(1.0, 10.0))(0.0)
    np.float64(1.0)
    """

    weights: tuple[float, ...]
    memories: tuple[float, ...]

    def __post_init__(self) -> None:
        same = len(self.weights) == len(self.memories) > 0
        check.require(same, "ExponentialSum.weights", "have one entry for each memory, and at least one", self.weights)
        for weight, memory in zip(self.weights, self.memories, strict=True):
            check.real("ExponentialSum.weights", weight, above=0)
            check.real("ExponentialSum.memories", memory, above=0)

    def __call__(self, lag: Any) -> Any:
        """The decay f at the given lags, in steps."""
        lags = np.asarray(lag, np.float64)[..., None]
        return (np.array(self.weights) * np.exp(-lags / np.array(self.memories))).sum(axis=-1)


@dataclass(frozen=True, kw_only=True)
class Windowed:
    """Any f(t) >= 0, limited to the last `frames` frames.

    Parameters
    ----------
    function : Callable[[NDArray[np.float64]], Any]
        Takes an array of lags and returns as many odds; f(0) must be > 0 and finite.
    frames : int
        How many past frames are remembered; silent frames count.

    Examples
    --------
    >>> Windowed(function=lambda lag: 1 / (1 + lag) ** 2, frames=50)(np.array([0.0, 1.0]))
    array([1.  , 0.25])
    """

    function: Callable[[NDArray[np.float64]], Any]
    frames: int

    def __post_init__(self) -> None:
        check.integer("Windowed.frames", self.frames, low=1)
        if not callable(self.function):
            raise TypeError(f"Windowed.function must be callable; got {self.function!r}")
        start = float(self(np.zeros(1))[0])
        check.require(start > 0, "Windowed.function at lag 0", "be > 0", start)

    def __call__(self, lag: Any) -> Any:
        """The decay f at the given lags, in steps."""
        lags = np.asarray(lag, np.float64)
        values = np.asarray(self.function(lags), np.float64)
        check.require(values.shape == lags.shape, "Windowed.function", "return one value per lag", values.shape)
        allowed = np.isfinite(values) & (values >= 0)
        bad = values[~allowed].ravel()[:1].tolist()
        check.require(not bad, "Windowed.function", "be >= 0 everywhere, and finite", bad)
        return values


Kernel = Exponential | ExponentialSum | Windowed


def measurement_kernel(lag: Any, switch_rate: float) -> Any:
    """How much a measurement `lag` ago says about the present, Eq. S94: `v(tau) = tau^-1/2 exp(-alpha tau)`.

    switch_rate is alpha, the rate at which the observed object is replaced, per step.

    Examples
    --------
    >>> measurement_kernel(4.0, switch_rate=0.0)
    np.float64(0.5)
    """
    check.real("switch_rate", switch_rate, low=0)
    lags = np.asarray(lag, np.float64)
    check.require(bool((lags > 0).all()), "lag", "be > 0", lags)
    return np.exp(-switch_rate * lags) / np.sqrt(lags)
