"""The Axes that a picture is drawn on: those that are given, or new ones; and how records are read."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from springback import check

# Okabe & Ito (2008): eight colours told apart with any colour vision and in print.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
CYCLE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)


def panel(axes: Axes | None) -> Axes:
    """The given Axes, or new ones of a new pyplot figure."""
    if axes is None:
        import matplotlib.pyplot as plt

        return plt.figure(figsize=(6, 3), layout="constrained").add_subplot()
    if not isinstance(axes, Axes):
        raise TypeError(f"axes must be matplotlib Axes or None; got {type(axes).__name__}")
    return axes


def spike_times_of(record: Any, dt_ms: float | None) -> tuple[NDArray[Any], NDArray[np.float64], float]:
    """Which neuron fired, when and until when in ms: of a `CircuitResponse`, a `Recording`, or a pair.

    A pair is `(index, time_ms)`. A `Recording` counts time steps, whose length is `dt_ms` (0.5 if it is not given).
    """
    if isinstance(record, tuple) and len(record) == 2:
        index, time_ms = np.asarray(record[0]), np.asarray(record[1], np.float64)
        check.require(
            index.shape == time_ms.shape, "index and time_ms", "have the same length", (index.shape, time_ms.shape)
        )
        return index, time_ms, float(time_ms.max(initial=0.0))
    if hasattr(record, "time_ms") and hasattr(record, "index"):
        return record.index, record.time_ms, record.n_steps * record.dt_ms
    if hasattr(record, "out_index"):
        step_ms = dt_of(record, dt_ms)
        time_ms = np.asarray(record.out_step * step_ms, np.float64)
        last = max(int(record.out_step.max(initial=0)), int(record.in_step.max(initial=0)))
        return record.out_index, time_ms, getattr(record, "n_steps", last) * step_ms
    raise TypeError(f"record must be a CircuitResponse, a Recording or (index, time_ms); got {type(record).__name__}")


def sampled_in(record: Any, quantity: str) -> Any:
    """What a `Recording` has of a quantity: the samples of its first monitor of that quantity, or None."""
    held = getattr(record, "samples", {}).values()
    return next((one for one in held if one.watched.quantity == quantity and len(one.step)), None)


def dt_of(record: Any, dt_ms: float | None) -> float:
    """The time step of a recording: the one that is given, its own, or the usual one."""
    known = getattr(record, "dt_ms", 0.5) if dt_ms is None else dt_ms
    return check.real("dt_ms", known, above=0)
