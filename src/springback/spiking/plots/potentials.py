"""Membrane potentials over time, with the thresholds at which neurons fire."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from springback import check
from springback.spiking.plots.panel import CYCLE, dt_of, panel, sampled_in, spikes_of


def potentials(
    record: Any,
    axes: Axes | None = None,
    *,
    thresholds_mv: Any = None,
    dt_ms: float | None = None,
    spikes: bool = True,
) -> Axes:
    """The potentials of the recorded neurons; dashed: their thresholds; strokes above: their spikes.

    Parameters
    ----------
    record : Any
        A `CircuitResponse` or a `Recording` in which neurons were sampled.
    thresholds_mv : Any
        One number for all neurons, or one for each that was sampled; None: those of a `CircuitResponse`, which samples
        them, or of a `Recording` with a monitor of the thresholds of the same neurons at the same times.
    dt_ms : float | None
        The time step of a `Recording` that does not know it; None: 0.5 ms.
    spikes : bool
        Whether to mark spikes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from springback.spiking.composed import ComposedCircuit, Lif, spikes_at
    >>> circuit = ComposedCircuit(np.ones((1, 1)), neurons=Lif(drive_mv=20.0))
    >>> response = circuit.run(spikes_at([], [], 300.0), neurons=[0])
    >>> axes = potentials(response, Figure().subplots())
    >>> axes.get_ylabel(), len(axes.lines)  # the potential, the threshold, the spikes
    ('potential (mV)', 3)
    """
    if hasattr(record, "sampled"):
        check.require(record.sampled is not None, "record", "have sampled neurons: run(..., neurons=[0])", "none")
        sampled = record.sampled
        neurons, time_ms, values = sampled.neurons, sampled.time_ms, sampled.potential_mv
        limits = sampled.threshold_mv if thresholds_mv is None else None
    else:
        found, bound = sampled_in(record, "potential_mv"), sampled_in(record, "threshold_mv")
        check.require(found is not None, "record", "have sampled neurons: neurons=[0]", "none")
        neurons, values, limits = found.neurons, found.values, None
        time_ms = np.asarray(found.step * dt_of(record, dt_ms), np.float64)
        same = bound is not None and np.array_equal(bound.neurons, neurons) and np.array_equal(bound.step, found.step)
        if same and thresholds_mv is None:
            limits = bound.values
    if thresholds_mv is not None:
        limits = np.broadcast_to(np.asarray(thresholds_mv, np.float64), values.shape)
    axes = panel(axes)
    index, fired_ms, _ = spikes_of(record, dt_ms)
    top = float(max(values.max(), -np.inf if limits is None else limits.max()))
    room = 0.08 * max(top - float(values.min()), 1.0)
    for place, neuron in enumerate(neurons):
        colour = CYCLE[place % len(CYCLE)]
        axes.plot(time_ms, values[:, place], color=colour, linewidth=1, label=f"neuron {neuron}")
        if limits is not None:
            axes.plot(time_ms, limits[:, place], color=colour, linewidth=0.8, linestyle="--")
        if spikes:
            mine = fired_ms[np.asarray(index) == neuron]
            axes.plot(mine, np.full(len(mine), top + room * (1 + place)), "|", color=colour, markersize=7)
    axes.set(xlabel="time (ms)", ylabel="potential (mV)")
    axes.margins(x=0)
    if len(neurons) > 1:
        axes.legend(frameon=False, fontsize=8)
    return axes
