"""Times with units: bare numbers need a stated one, quantities bring their own."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""How many seconds each unit is."""


def has_unit(times: Any) -> bool:
    """Whether times are quantities, of the library quantities (Neo) or of Brian2."""
    return hasattr(times, "rescale") or hasattr(times, "dim")


def in_seconds(name: str, times: Any, unit: str | None, dt_ms: float | None = None) -> NDArray[np.float64]:
    """Times in seconds: quantities are converted, and bare numbers are taken in the stated unit.

    Parameters
    ----------
    unit : str | None
        "s", "ms", "us", "ns" or "steps" for bare numbers; None for quantities.
    dt_ms : float | None
        The time step, for "steps".

    Examples
    --------
    >>> in_seconds("times", [1, 2], "ms")
    array([0.001, 0.002])
    >>> in_seconds("times", [1, 2], None)
    Traceback (most recent call last):
    ValueError: times must have a unit: they are bare numbers, so state unit="s", "ms", "us", "ns" or "steps"
    """
    if has_unit(times):
        check.require(unit is None, "unit", f"be None, since {name} bring their own", unit)
        if hasattr(times, "rescale"):
            return _numbers(name, times.rescale("s").magnitude)
        from_brian = np.asarray(times)  # Brian2 keeps every quantity in its base units, here seconds
        is_time = str(getattr(times, "dim", "")) in {"s", "second"}
        check.require(is_time, name, "be in a unit of time", str(getattr(times, "dim", "")))
        return _numbers(name, from_brian)
    if unit is None:
        raise ValueError(
            f'{name} must have a unit: they are bare numbers, so state unit="s", "ms", "us", "ns" or "steps"'
        )
    check.one_of("unit", unit, (*SECONDS, "steps"))
    if unit == "steps":
        if dt_ms is None:
            raise ValueError("dt_ms must be given if times are in steps")
        return _numbers(name, times) * (check.real("dt_ms", dt_ms, above=0) * 1e-3)
    return _numbers(name, times) * SECONDS[unit]


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    found = np.asarray(values)
    is_list = found.ndim == 1 and (found.dtype.kind in "iuf" or found.size == 0)
    check.require(is_list, name, "be numbers in one dimension", f"{found.dtype} of shape {found.shape}")
    found = found.astype(np.float64)
    check.require(bool(np.isfinite(found).all()), name, "be finite", "NaN or infinity")
    return found
