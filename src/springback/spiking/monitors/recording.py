"""`Recording`: the spikes and samples of a run, in memory or read from a folder when they are needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback.spiking.monitors.monitor import QUANTITIES, Quantity
from springback.spiking.monitors.parts import About, RecordedParts, Watched, parts_of
from springback.spiking.weights import Weights

Floats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Samples:
    """What one monitor recorded.

    Parameters
    ----------
    name : str
        The name of the monitor.
    watched : Watched
        Its quantity, neurons and inputs.
    dt_ms : float
        The time step.
    """

    name: str
    watched: Watched
    dt_ms: float
    _parts: RecordedParts = field(repr=False)
    _dtype: str = field(repr=False)

    @property
    def quantity(self) -> Quantity:
        """The quantity with its unit and axes."""
        return QUANTITIES[self.watched.quantity]

    @property
    def neurons(self) -> NDArray[np.int64]:
        """The neurons that were watched; empty for a quantity of inputs."""
        return np.array(self.watched.neurons, np.int64)

    @property
    def inputs(self) -> NDArray[np.int64]:
        """The inputs that were watched; empty for a quantity of neurons."""
        return np.array(self.watched.inputs, np.int64)

    @cached_property
    def step(self) -> NDArray[np.int64]:
        """The step of each sample since the recording began; its value is that at the end of the step."""
        return np.concatenate([np.zeros(0, np.int64), *self._parts.arrays(f"samples.{self.name}.step")])

    @property
    def time_ms(self) -> NDArray[np.float64]:
        """The beginning of that step in milliseconds."""
        return np.asarray(self.step * self.dt_ms, np.float64)

    @property
    def values(self) -> Floats:
        """All samples, (n, neurons), (n, inputs) or (n, inputs, neurons); read again at each use, see `chunks`."""
        shape = tuple(len(getattr(self.watched, axis)) for axis in self.quantity.axes)
        return np.concatenate([np.zeros((0, *shape), self._dtype), *self.chunks()])

    def chunks(self) -> Iterator[Floats]:
        """The samples in parts, one after the other, for a recording that is larger than the memory."""
        return self._parts.arrays(f"samples.{self.name}.values")


def _spikes(name: str, dtype: Any) -> cached_property[NDArray[Any]]:
    """The spikes of that name in all parts of a recording, read when they are first used."""

    def joined(recording: "Recording") -> NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype), *recording.parts.arrays(name)])

    return cached_property(joined)


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """The record of a run; steps count from where the recording began.

    `recording.samples["name"]` is what the monitor of that name recorded.

    Parameters
    ----------
    about : About
        The size of the circuit, its time step, and what was watched.
    n_steps : int
        How many steps were recorded.
    weights : Weights | None
        The weights after the run, from `record_stream` and `simulate_spikes`.
    v_mv : NDArray[Any] | None
        (n_neurons,) potentials after the run, likewise.
    state : Any
        The state after the run, likewise; the run can continue from it.
    """

    about: About = field(repr=False)
    n_steps: int
    parts: RecordedParts = field(repr=False)
    weights: Weights | None = field(repr=False, default=None)
    v_mv: Floats | None = field(repr=False, default=None)
    state: Any = field(repr=False, default=None)

    @property
    def dt_ms(self) -> float:
        """The time step."""
        return self.about.dt_ms

    @cached_property
    def samples(self) -> Mapping[str, Samples]:
        """What each monitor recorded."""
        about = self.about
        return {name: Samples(name, one, about.dt_ms, self.parts, about.dtype) for name, one in about.monitors.items()}

    out_index = _spikes("out_index", np.int32)
    """Spikes of the excitatory neurons: which neuron."""
    out_step = _spikes("out_step", np.int64)
    """Spikes of the excitatory neurons: in which step."""
    partner_index = _spikes("partner_index", np.int32)
    """Spikes of the partners: of which neuron; if `partner_spikes`."""
    partner_step = _spikes("partner_step", np.int64)
    """Spikes of the inhibitory partners: in which step."""
    in_index = _spikes("in_index", np.int32)
    """Spikes of the inputs: which input; empty unless `input_spikes` was set."""
    in_step = _spikes("in_step", np.int64)
    """Spikes of the inputs: in which step."""

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """(presentations, 3): the number of each frame in its stream, the attempt, and the step in which it begins."""
        return np.concatenate([np.zeros((0, 3), np.int64), *self.parts.arrays("shown")])

    @property
    def neurons(self) -> NDArray[np.int64]:
        """The neurons whose potentials were sampled."""
        found = self.samples.get("potential_mv")
        return np.zeros(0, np.int64) if found is None else found.neurons

    @property
    def sample_step(self) -> NDArray[np.int64]:
        """The steps of the samples of potentials."""
        found = self.samples.get("potential_mv")
        return np.zeros(0, np.int64) if found is None else found.step

    @cached_property
    def potential_mv(self) -> Floats:
        """(samples, neurons) the monitor "potential_mv"; empty without it."""
        found = self.samples.get("potential_mv")
        return np.zeros((0, 0), self.about.dtype) if found is None else found.values

    @cached_property
    def short_term(self) -> Floats:
        """(samples, n_inputs, neurons) the monitor "F"; empty without it."""
        found = self.samples.get("F")
        return np.zeros((0, self.about.n_inputs, 0), self.about.dtype) if found is None else found.values


def open_recording(folder: str | Path) -> Recording:
    """The recording that a `Recorder` wrote to a folder; arrays are read when they are used.

    After a run that was killed, it holds everything up to the last part that was written.
    """
    about, n_steps, parts = parts_of(Path(folder))
    return Recording(about=about, n_steps=n_steps, parts=parts)
