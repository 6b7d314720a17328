"""Pictures of weights, and of the windows of plasticity rules."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from springback import check
from springback.spiking.composed import ComposedCircuit, Lif, spikes_at
from springback.spiking.composed.parts import PairStdp, TripletStdp
from springback.spiking.params import ShortTermStdp
from springback.spiking.plots.panel import BLUE, panel

GAP = 2


def receptive_fields(
    weights: Any,
    axes: Axes | None = None,
    *,
    neurons: Sequence[int] | None = None,
    shape: tuple[int, int] | None = None,
    **look: Any,
) -> Axes:
    """The weights of some neurons as a square of pictures, in reading order.

    Parameters
    ----------
    weights : Any
        (n_inputs, n_neurons), for example W of `Weights.resting`, or G = W + F.
    neurons : Sequence[int] | None
        Which neurons; None: the first hundred.
    shape : tuple[int, int] | None
        Height and width of a picture; None: a square.
    look : Any
        As `Axes.imshow` takes it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from springback.data.pretrained import shipped_spiking
    >>> axes = receptive_fields(shipped_spiking().weights.resting, Figure().subplots(), neurons=range(9))
    >>> axes.images[0].get_array().shape  # nine pictures of 28 x 28 with gaps
    (88, 88)
    """
    values = np.asarray(weights, np.float64)
    check.require(values.ndim == 2, "weights", "have shape (n_inputs, n_neurons)", values.shape)
    n_inputs, n_neurons = values.shape
    side = math.isqrt(n_inputs)
    height, width = shape or (side, side)
    must = f"give a picture of {n_inputs} inputs (its height times its width)"
    check.require(height * width == n_inputs, "shape", must, shape or f"none, and {n_inputs} is not a square number")
    chosen = range(min(n_neurons, 100)) if neurons is None else neurons
    maps = np.stack([values[:, check.integer("neurons", one, low=0, high=n_neurons - 1)] for one in chosen])
    picture = mosaic(maps.reshape(-1, height, width))
    axes = panel(axes)
    axes.imshow(np.ma.masked_invalid(picture), **{"cmap": "cividis", "interpolation": "nearest", **look})
    axes.set_axis_off()
    return axes


def mosaic(maps: NDArray[Any], *, empty: float = np.nan, gap: int = GAP) -> NDArray[np.float64]:
    """Pictures (n, height, width) or (n, height, width, colours) in a square, with gaps of `empty` between them.

    Examples
    --------
    >>> mosaic(np.ones((3, 2, 2)), empty=0.0, gap=1)
    array([[1., 1., 0., 1., 1.],
           [1., 1., 0., 1., 1.],
           [0., 0., 0., 0., 0.],
           [1., 1., 0., 0., 0.],
           [1., 1., 0., 0., 0.]])
    """
    n, height, width, *colours = maps.shape
    side = math.ceil(math.sqrt(n))
    rows = math.ceil(n / max(side, 1))
    picture = np.full((rows * (height + gap) - gap, side * (width + gap) - gap, *colours), empty)
    for place, one in enumerate(maps):
        top, left = (place // side) * (height + gap), (place % side) * (width + gap)
        picture[top : top + height, left : left + width] = one
    return picture


Floats = NDArray[np.float64]

DT_MS = 0.5
_TEACHER_WEIGHT = 2e4


class StdpWindow(NamedTuple):
    """The change of a synapse of weight `weight` (W, or F of short-term STDP) at each lag of output after input."""

    lag_ms: Floats
    change: Floats
    weight: float


def measure_stdp_window(
    rule: PairStdp | TripletStdp | ShortTermStdp, *, longest_ms: float = 100.0, weight: float = 0.5
) -> StdpWindow:
    """The window of a rule, measured by the simulator: each lag at a synapse of its own, all in one run.

    A further input, strong enough to fire the neuron at once, sets the time of the output spike.

    Examples
    --------
    >>> window = measure_stdp_window(PairStdp(potentiation=0.01), longest_ms=50.0)
    >>> window.change[window.lag_ms == 0.0].round(6)
    array([0.01])
    """
    if not isinstance(rule, PairStdp | TripletStdp | ShortTermStdp):
        raise TypeError(
            "rule must be PairStdp, TripletStdp or ShortTermStdp, which depend on the lag between input and output; "
            f"got {type(rule).__name__}"
        )
    reach = round(longest_ms / DT_MS)
    lags = np.arange(-reach, reach + 1, max(reach // 100, 1), dtype=np.float64) * DT_MS
    fires_ms = longest_ms + DT_MS
    weights = np.full((len(lags) + 1, 1), weight)
    weights[-1] = _TEACHER_WEIGHT
    times = np.append(fires_ms - lags, fires_ms - DT_MS)
    # The bound of the rule would clip the teacher, so the weights are bounded here, where none can reach it.
    free = rule if isinstance(rule, ShortTermStdp) else _unbounded(rule)
    circuit = ComposedCircuit(weights, neurons=Lif(v_threshold_mv=-1.0), plasticity=free, dt_ms=DT_MS)
    response = circuit.run(spikes_at(np.arange(len(times)), times, 2 * longest_ms + 2 * DT_MS, dt_ms=DT_MS))
    if response.time_ms.tolist() != [fires_ms]:
        raise ValueError(f"the neuron must fire once, when it is told to; got {response.time_ms.tolist()}")
    if isinstance(rule, ShortTermStdp):
        memory_ms = float(np.mean(rule.memory_ms))
        since_ms = (response.n_steps - 1) * DT_MS - fires_ms
        return StdpWindow(lags, response.short_term[:-1, 0] * np.exp(since_ms / memory_ms), weight)
    change = np.clip(response.weights[:-1, 0], 0.0, rule.weight_max) - weight
    return StdpWindow(lags, change, weight)


def stdp_window(
    rule: PairStdp | TripletStdp | ShortTermStdp | StdpWindow | Sequence[Any],
    axes: Axes | None = None,
    *,
    longest_ms: float = 100.0,
    weight: float = 0.5,
    closed_form: Any = None,
    colour: str = BLUE,
) -> Axes:
    """The window of a rule: the change of a synapse against the lag of the output spike after the input spike.

    Parameters
    ----------
    rule : PairStdp | TripletStdp | ShortTermStdp | StdpWindow | Sequence[Any]
        A rule, which is measured, or a measured window, or `(lag_ms, change)`.
    closed_form : Any
        What theory says at the same lags; drawn as a line, and what was measured as dots.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = stdp_window(([-5.0, 5.0], [-0.1, 0.2]), Figure().subplots())
    >>> axes.get_ylabel()
    'change of the synapse'
    """
    if not isinstance(rule, Sequence):
        rule = measure_stdp_window(rule, longest_ms=longest_ms, weight=weight)
    lag_ms, change = (np.asarray(one, np.float64) for one in rule[:2])
    axes = panel(axes)
    axes.axvline(0, color="0.8", linewidth=0.8)
    if closed_form is not None:
        _draw_sides(axes, lag_ms, np.asarray(closed_form, np.float64), color=colour, linewidth=1.2)
    if closed_form is not None:
        axes.plot(lag_ms, change, ".", color=colour, markersize=4)
    else:
        _draw_sides(axes, lag_ms, change, color=colour, linewidth=1.2)
    axes.set(xlabel="output spike after input spike, $\\tau$ (ms)", ylabel="change of the synapse")
    return axes


def _draw_sides(axes: Axes, lag_ms: Floats, change: Floats, **look: Any) -> None:
    """A line on either side of zero, and none across it."""
    for side in (lag_ms < 0, lag_ms >= 0):
        axes.plot(lag_ms[side], change[side], **look)


def _unbounded(rule: PairStdp | TripletStdp) -> PairStdp | TripletStdp:
    return replace(rule, weight_max=2 * _TEACHER_WEIGHT)
