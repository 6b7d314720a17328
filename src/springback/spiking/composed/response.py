"""What a circuit answers: its output spikes, what was sampled inside, what it cost, and its state afterwards."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from springback.spiking.composed.state import ComposedState
from springback.spiking.encoding import SpikeTrain, spike_train
from springback.spiking.operations import Operations

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sampled:
    """Chosen neurons at regular times.

    Parameters
    ----------
    neurons : NDArray[np.int64]
        (m,).
    time_ms : Floats
        (samples,) since the beginning of the run.
    potential_mv, threshold_mv, excitation, inhibition : Floats
        (samples, m); conductances are relative to that of the leak.
    """

    neurons: NDArray[np.int64]
    time_ms: Floats
    potential_mv: Floats
    threshold_mv: Floats
    excitation: Floats
    inhibition: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CircuitResponse:
    """The response of a circuit to a spike train.

    Parameters
    ----------
    index, step
        Output spikes: which neuron fired, in which step of the run.
    n_steps, dt_ms
        Length of the run.
    counts : NDArray[np.int32]
        (frames, n_neurons) output spikes of each neuron in each frame.
    operations : Operations
        What each frame cost.
    state : ComposedState
        The circuit after the run.
    sampled : Sampled | None
        What was recorded of chosen neurons.

    Examples
    --------
    >>> from springback.spiking.composed import ComposedCircuit, Lif, spikes_at
    >>> response = ComposedCircuit(np.full((1, 2), [[40.0, 0.0]]), neurons=Lif()).run(spikes_at([0], [5.0], 50.0))
    >>> response
    CircuitResponse(n_spikes=1, n_neurons=2, n_frames=1, duration_ms=50)
    >>> response.index, response.time_ms
    (array([0], dtype=int32), array([6.]))
    """

    index: NDArray[np.int32]
    step: NDArray[np.int64]
    n_steps: int
    dt_ms: float
    counts: NDArray[np.int32]
    operations: Operations
    state: ComposedState
    sampled: Sampled | None = None

    def __repr__(self) -> str:
        (n_frames, n_neurons), n_spikes, ms = self.counts.shape, len(self.index), self.n_steps * self.dt_ms
        return f"CircuitResponse({n_spikes=}, {n_neurons=}, {n_frames=}, duration_ms={ms:g})"

    @property
    def time_ms(self) -> Floats:
        """When each output spike occurred."""
        return np.asarray(self.step * self.dt_ms)

    @property
    def rates_hz(self) -> Floats:
        """The rate of each neuron over the whole run, (n_neurons,)."""
        return np.asarray(self.counts.sum(axis=0) * 1000 / max(self.n_steps * self.dt_ms, self.dt_ms))

    @property
    def spikes(self) -> SpikeTrain:
        """The output spikes as the input of another circuit."""
        return spike_train(self.index, self.step, self.n_steps)

    @property
    def weights(self) -> Floats:
        """W after the run, (n_inputs, n_neurons)."""
        return self.state.arrays["weights"]

    @property
    def short_term(self) -> Floats:
        """F after the run, (n_inputs, n_neurons); 0 without short-term STDP."""
        arrays = self.state.arrays
        return np.asarray(arrays["short"] * arrays["scale"]) if "short" in arrays else np.zeros_like(self.weights)

    @property
    def thresholds_mv(self) -> Floats:
        """Thresholds after the run, above those of the neuron model, (n_neurons,)."""
        return self.state.arrays["theta"]
