"""Spikes of other programs become `Spikes`, and a trained model runs on them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import RunState
from springback.spiking.exchange.spikes import Spikes, in_seconds
from springback.spiking.model import SpikingModel
from springback.spiking.monitors.recorder import Recorder
from springback.spiking.monitors.recording import Recording
from springback.spiking.recorded_runs import simulate_spikes
from springback.spiking.weights import Weights

POLARITIES = ("merged", "split", "on", "off")


def spikes_from(
    source: Any,
    *,
    unit: str | None = None,
    dt_ms: float | None = None,
    n_sources: int | None = None,
    duration_s: float | None = None,
    shape: tuple[int, int] | None = None,
    polarity: str | None = None,
) -> Spikes:
    """Spikes of another program, in any of these forms.

    * `(times, ids)`: two arrays of the same length; times are bare numbers in the given unit, or quantities.
    * A structured array with the fields t, x, y and perhaps p: the events of a camera (AER), as tonic has them. Bare
      numbers in the given unit (tonic: "us"); give the `shape` of the sensor and, if there is a p, the `polarity`.
    * `neo.SpikeTrain`s: a list, a `Segment`, or a `Block` with one segment. Times count from the earliest `t_start`.
    * A Brian2 `SpikeMonitor`, or anything with spikes `i` at times `t` in units.
    * `Spikes`.

    Parameters
    ----------
    unit : str | None
        Unit of bare numbers: "s", "ms", "us", "ns", or "steps" of `dt_ms`.
    n_sources : int | None
        How many inputs there are; None: as the source says, or one more than the largest id.
    duration_s : float | None
        How long it lasts; None: as the source says, or until the last spike.
    shape : tuple[int, int] | None
        (height, width) of the sensor; input y * width + x is the pixel in row y and column x.
    polarity : str | None
        "merged": both polarities are the same input; "split": pixels of polarity off are further inputs; "on" or "off":
        only these events.

    Examples
    --------
    >>> spikes_from(([3.0, 1.0], [7, 2]), unit="ms").index
    array([2, 7])
    >>> events = np.array([(10, 1, 0, 1), (20, 0, 1, 0)], [("t", int), ("x", int), ("y", int), ("p", bool)])
    >>> spikes_from(events, unit="us", shape=(2, 2), polarity="split").index
    array([1, 6])
    """
    known: int | None
    lasts: float | None
    camera = isinstance(source, np.ndarray) and source.dtype.names is not None
    for name, value in (("shape", shape), ("polarity", polarity)):
        check.require(camera or value is None, name, "be None, since these are not events of a camera", value)
    if isinstance(source, Spikes):
        index, times, known, lasts = source.index, source.time_s, source.n_sources, source.duration_s
        check.require(unit is None, "unit", "be None, since Spikes are in seconds", unit)
    elif camera:
        index, times, known = _of_camera(source, unit, dt_ms, shape, polarity)
        lasts = None
    elif _is_neo(source):
        check.require(unit is None, "unit", "be None, since spike trains of Neo bring their own", unit)
        index, times, known, lasts = _of_neo(source)
    elif hasattr(source, "i") and hasattr(source, "t"):
        index, times = np.asarray(source.i[:], np.int64), in_seconds("times", source.t[:], unit, dt_ms)
        known, lasts = (len(source.source) if hasattr(source, "source") else None), None
    elif is_pair(source):
        times, ids = in_seconds("times", source[0], unit, dt_ms), np.asarray(source[1])
        whole = ids.ndim == 1 and (ids.dtype.kind in "iu" or ids.size == 0)
        check.require(whole, "ids", "be whole numbers in one dimension", f"{ids.dtype} of shape {ids.shape}")
        index, known, lasts = ids.astype(np.int64), None, None
    else:
        raise TypeError(
            "spikes must be (times, ids), a structured array of events, spike trains of Neo or a monitor of Brian2; "
            f"got {type(source).__name__}"
        )
    check.require(len(index) == len(times), "times and ids", "have the same length", (len(times), len(index)))
    most = int(index.max(initial=-1)) + 1
    n = n_sources if n_sources is not None else known if known is not None else max(most, 1)
    last = float(times.max(initial=0.0))
    step_s = 0.0 if dt_ms is None else dt_ms * 1e-3
    length = duration_s if duration_s is not None else lasts if lasts is not None else last + step_s
    return Spikes(index, times, n_sources=n, duration_s=length)


def is_pair(source: Any) -> bool:
    """Whether this is (times, ids), which does not say how many sources there are."""
    return isinstance(source, tuple | list) and len(source) == 2 and not _is_neo(source)


def _of_camera(
    events: NDArray[np.void], unit: str | None, dt_ms: float | None, shape: tuple[int, int] | None, polarity: str | None
) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    names = events.dtype.names or ()
    missing = [name for name in ("t", "x", "y") if name not in names]
    check.require(not missing, "events", "have the fields t, x and y", names)
    if shape is None:
        raise ValueError("shape must be the (height, width) of the sensor; got None")
    height, width = (check.integer("shape", one, low=1) for one in shape)
    has_polarity = "p" in names
    if has_polarity and polarity is None:
        raise ValueError(f"polarity must be one of {', '.join(map(repr, POLARITIES))}, since the events have one")
    if not has_polarity:
        check.require(polarity is None, "polarity", "be None, since the events have none", polarity)
    polarity = check.one_of("polarity", polarity or "merged", POLARITIES)
    x, y = events["x"].astype(np.int64), events["y"].astype(np.int64)
    for name, value, top in (("x", x, width), ("y", y, height)):
        inside = bool(((value >= 0) & (value < top)).all())
        got = (value.min(), value.max()) if len(value) else "none"
        check.require(inside, f"{name} of the events", f"lie within 0 ... {top - 1}, as the shape says", got)
    times, index = in_seconds("t of the events", events["t"], unit, dt_ms), y * width + x
    is_on = events["p"] > 0 if has_polarity else np.ones(len(events), np.bool_)
    if polarity == "split":
        return index + height * width * ~is_on, times, 2 * height * width
    wanted = {"merged": np.ones_like(is_on), "on": is_on, "off": ~is_on}[polarity]
    return index[wanted], times[wanted], height * width


def _is_neo(source: Any) -> bool:
    if hasattr(source, "spiketrains") or hasattr(source, "segments"):
        return True
    if hasattr(source, "t_stop"):
        return True
    return isinstance(source, Sequence) and len(source) > 0 and all(hasattr(one, "t_stop") for one in source)


def _of_neo(source: Any) -> tuple[NDArray[np.int64], NDArray[np.float64], int, float]:
    if hasattr(source, "segments"):
        check.require(
            len(source.segments) == 1, "the Block", "have one segment (give one of them)", len(source.segments)
        )
        source = source.segments[0]
    trains = list(source.spiketrains) if hasattr(source, "spiketrains") else source
    trains = [trains] if hasattr(trains, "t_stop") else list(trains)
    check.require(len(trains) > 0, "the Segment", "have spike trains", 0)
    times = [in_seconds("times", one, None) for one in trains]
    start = min(float(one.t_start.rescale("s")) for one in trains)
    stop = max(float(one.t_stop.rescale("s")) for one in trains)
    index = np.repeat(np.arange(len(trains)), [len(one) for one in times])
    return index, np.maximum(np.concatenate(times) - start, 0.0), len(trains), stop - start


def simulate(
    model: SpikingModel,
    source: Any,
    *,
    adapts: bool = True,
    recorder: Recorder | None = None,
    state: RunState | None = None,
    **form: Any,
) -> Recording:
    """Run a trained model on spikes of another program, with the short-term STDP and thresholds of its streams.

    Parameters
    ----------
    source : Any
        Spikes in any form that `spikes_from` takes.
    adapts : bool
        Whether short-term STDP is on.
    recorder : Recorder | None
        What to record in addition to the spikes.
    state : RunState | None
        Continue from the state of an earlier recording; None: from rest.
    form : Any
        The unit and other options of `spikes_from`.

    Examples
    --------
    >>> import numpy as np
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> digit = shipped_digits().pixels[10].ravel() > 128
    >>> pixels = np.repeat(np.flatnonzero(digit), 30)  # each lit pixel spikes 30 times within 350 ms
    >>> times = np.random.default_rng(0).uniform(0, 350, len(pixels))
    >>> run = simulate(shipped_spiking(), (times, pixels), unit="ms", duration_s=0.35)
    >>> run.n_steps, shipped_spiking().neuron_labels[np.bincount(run.out_index).argmax()]
    (700, np.int64(1))
    """
    preset = model.preset
    circuit = preset.circuit
    if is_pair(source):
        form = {"n_sources": circuit.n_inputs, **form}
    spikes = spikes_from(source, **form)
    must = f"have {circuit.n_inputs} sources, as the model has inputs"
    check.require(spikes.n_sources == circuit.n_inputs, "the spikes", must, spikes.n_sources)
    index, step, n_steps = spikes.steps(circuit.dt_ms)
    shift = model.weights.theta.dtype.type(preset.streaming.threshold_shift_mv)
    return simulate_spikes(
        Weights(model.weights.resting, model.weights.theta + shift),
        index,
        step,
        n_steps,
        circuit=circuit,
        short_term=preset.short_term if adapts else None,
        recorder=recorder,
        state=state,
    )
