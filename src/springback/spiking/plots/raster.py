"""Which neuron spikes when."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from springback.spiking.plots.panel import BLACK, CYCLE, panel, spikes_of


def raster(
    record: Any,
    axes: Axes | None = None,
    *,
    neurons: Sequence[int] | None = None,
    dt_ms: float | None = None,
    **look: Any,
) -> Axes:
    """A raster of output spikes: time on the horizontal axis, neurons on the vertical one.

    Parameters
    ----------
    record : Any
        A `CircuitResponse`, a `Recording`, or `(index, time_ms)`.
    neurons : Sequence[int] | None
        Draw only these, from below in this order; None: all that fire, at their own numbers.
    dt_ms : float | None
        The time step of a `Recording` that does not know it; None: 0.5 ms.
    look : Any
        How the marks are drawn, as `Axes.plot` takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = raster(([3, 1, 3], [10.0, 12.0, 30.0]), Figure().subplots())
    >>> axes.get_xlabel(), len(axes.lines[0].get_xdata())
    ('time (ms)', 3)
    """
    index, time_ms, end_ms = spikes_of(record, dt_ms)
    axes = panel(axes)
    style = {"color": BLACK, "marker": "|", "linestyle": "none", "markersize": 5, **look}
    height = np.asarray(index)
    if neurons is not None:
        places = {int(one): place for place, one in enumerate(neurons)}
        chosen = np.isin(index, list(places))
        height, time_ms = np.array([places[int(one)] for one in index[chosen]]), time_ms[chosen]
        axes.set_yticks(range(len(places)), [str(one) for one in places])
        axes.set_ylim(-0.6, len(places) - 0.4)
    axes.plot(time_ms, height, **style)
    axes.set(xlabel="time (ms)", ylabel="neuron", xlim=(0, max(end_ms, 1e-9)))
    return axes


def spike_rows(trains: Mapping[str, Any], axes: Axes | None = None, *, colours: Sequence[str] = CYCLE) -> Axes:
    """Spike trains as rows of strokes, each with its name in its colour, the first at the bottom.

    Parameters
    ----------
    trains : Mapping[str, Any]
        Times of spikes in ms, by the name of the row.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = spike_rows({"output": [20.0], "input": [10.0, 15.0]}, Figure().subplots())
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['output', 'input']
    """
    axes = panel(axes)
    used = [colours[place % len(colours)] for place in range(len(trains))]
    rows = [np.asarray(times, np.float64) for times in trains.values()]
    axes.eventplot(rows, colors=used, lineoffsets=range(len(rows)), linelengths=0.7, linewidths=0.7)
    axes.set_yticks(range(len(rows)), list(trains))
    for label, colour in zip(axes.get_yticklabels(), used, strict=True):
        label.set_color(colour)
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
    return axes
