"""Pictures of recordings and responses: spikes, membrane potentials with thresholds, and the short-term part F."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from springback import check
from springback.spiking.plots.panel import BLACK, CYCLE, ORANGE, dt_of, panel, sampled_in, spike_times_of


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
    index, time_ms, end_ms = spike_times_of(record, dt_ms)
    axes = panel(axes)
    style = {"color": BLACK, "marker": "|", "linestyle": "none", "markersize": 5, **look}
    height = np.asarray(index)
    if neurons is not None:
        places = {int(one): place for place, one in enumerate(neurons)}
        chosen = np.isin(index, list(places))
        height, time_ms = np.array([places[int(one)] for one in index[chosen]]), time_ms[chosen]
        axes.set_yticks(range(len(places)), [str(one) for one in places])
        axes.set_ylim(-0.6, len(places) - 0.4)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
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
    index, fired_ms, _ = spike_times_of(record, dt_ms)
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


def short_term(
    record: Any,
    axes: Axes | None = None,
    *,
    neuron: int | None = None,
    inputs: Sequence[int] | None = None,
    dt_ms: float | None = None,
    **look: Any,
) -> Axes:
    """F over time of the synapses of a recorded neuron, one line each.

    Parameters
    ----------
    record : Any
        A `CircuitResponse` that sampled neurons, a `Recording` with a monitor of F (`record_stream` with neurons has
        one), or `(time_ms, F)` with F (samples,) or (samples, synapses).
    neuron : int | None
        Which of the recorded neurons; None: the first.
    inputs : Sequence[int] | None
        Only the synapses of these inputs; None: all that are ever pulled.
    look : Any
        As `Axes.plot` takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = short_term(([0.0, 1.0, 2.0], [0.0, 0.5, 0.4]), Figure().subplots())
    >>> axes.get_ylabel()
    'short-term part F'
    """
    if isinstance(record, tuple) and len(record) == 2:
        time_ms, values = (np.asarray(one, np.float64) for one in record)
        values = values[:, None] if values.ndim == 1 else values
    else:
        sampled: Any = getattr(record, "sampled", None)
        if sampled is not None:
            time_ms, f, recorded = sampled.time_ms, sampled.short_term, range(sampled.short_term.shape[1])
        elif (sampled := sampled_in(record, "F")) is not None:
            time_ms, f, recorded = sampled.step * dt_of(record, dt_ms), sampled.values, sampled.inputs
        must = "have short-term STDP and sampled neurons: neurons=[0]"
        check.require(sampled is not None and len(recorded) > 0, "record", must, "none")
        known = [int(one) for one in sampled.neurons]
        place = 0
        if neuron is not None:
            check.require(neuron in known, "neuron", f"be one of those recorded ({known})", neuron)
            place = known.index(neuron)
        values = f[:, :, place]
        if inputs is not None:
            places = {int(one): at for at, one in enumerate(recorded)}
            missing = [one for one in inputs if one not in places]
            check.require(not missing, "inputs", "be among those recorded", missing)
            inputs = [places[one] for one in inputs]
    shown = np.flatnonzero(values.any(axis=0)) if inputs is None else np.asarray(inputs, np.int64)
    axes = panel(axes)
    axes.plot(time_ms, values[:, shown], **{"color": ORANGE, "linewidth": 1.2 if len(shown) == 1 else 0.6, **look})
    axes.set(xlabel="time (ms)", ylabel="short-term part F", ylim=(0, None))
    axes.margins(x=0)
    return axes
