"""The short-term part F of synapses over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from springback import check
from springback.spiking.plots.panel import ORANGE, dt_of, panel, sampled_in


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
        A `Recording` with a monitor of F (`record_stream` with neurons has one), or `(time_ms, F)` with F (samples,) or
        (samples, synapses).
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
        sampled = sampled_in(record, "F")
        check.require(sampled is not None, "record", "have short-term STDP and sampled neurons", "none")
        known = [int(one) for one in sampled.neurons]
        place = 0
        if neuron is not None:
            check.require(neuron in known, "neuron", f"be one of those recorded ({known})", neuron)
            place = known.index(neuron)
        time_ms = np.asarray(sampled.step * dt_of(record, dt_ms), np.float64)
        values = sampled.values[:, :, place]
        if inputs is not None:
            places = {int(one): at for at, one in enumerate(sampled.inputs)}
            missing = [one for one in inputs if one not in places]
            check.require(not missing, "inputs", "be among those recorded", missing)
            inputs = [places[one] for one in inputs]
    shown = np.flatnonzero(values.any(axis=0)) if inputs is None else np.asarray(inputs, np.int64)
    axes = panel(axes)
    axes.plot(time_ms, values[:, shown], **{"color": ORANGE, "linewidth": 1.2 if len(shown) == 1 else 0.6, **look})
    axes.set(xlabel="time (ms)", ylabel="short-term part F", ylim=(0, None))
    axes.margins(x=0)
    return axes
