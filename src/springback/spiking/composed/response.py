"""The state of a circuit between two runs, and what a run answers: output spikes, samples, costs, its last state."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.container import read, write
from springback.spiking.encoding import SpikeTrain, spike_train
from springback.spiking.operations import Operations

_LARGEST = 1e9
_MOST_STEPS = 2**53
_STEP_NUMBERS = ("last", "began", "fired")
_NOT_NEGATIVE = ("weights", "ge", "wait", "partner_ge", "partner_wait", "own", "inhibition", "activity")


@dataclass(frozen=True, eq=False)
class ComposedState:
    """Where a run stopped; `circuit.run(spikes, state=response.state)` continues from there.

    Parameters
    ----------
    arrays : Mapping[str, NDArray[Any]]
        What the circuit's parts keep: weights, potentials `v`, conductances `ge`, thresholds `theta`, traces.
    n_steps : int
        Steps since rest.

    Examples
    --------
    >>> from springback.spiking.composed import ComposedCircuit, Lif
    >>> sorted(ComposedCircuit(np.ones((3, 2)), neurons=Lif()).rest().arrays)
    ['activity', 'ge', 'inhibition', 'theta', 'v', 'wait', 'weights']

    A state can be saved, and the run can continue in another program:

    >>> import tempfile
    >>> from springback.spiking.composed import ComposedState, spikes_at
    >>> circuit = ComposedCircuit(np.full((1, 1), 40.0), neurons=Lif())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     circuit.run(spikes_at([0], [5.0], 5.5)).state.save(f"{folder}/state.safetensors")
    ...     state = ComposedState.load(f"{folder}/state.safetensors")
    >>> circuit.run(spikes_at([], [], 5.0), state=state).time_ms.tolist()  # the spike of that input
    [0.5]
    """

    arrays: Mapping[str, NDArray[Any]]
    n_steps: int = 0

    def __post_init__(self) -> None:
        check.integer("ComposedState.n_steps", self.n_steps, low=0, high=_MOST_STEPS)

    def save(self, path: str | Path) -> None:
        """Write the state to a file; a file that it replaces is kept next to it as `NAME.previous`."""
        write(Path(path), "state", self, keep_previous=True)

    @classmethod
    def load(cls, path: str | Path) -> "ComposedState":
        """The state in a file; `circuit.run` refuses one that was not made for it."""
        return read(Path(path), "state", cls)


def checked_arrays(state: ComposedState, rest: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Copies of the arrays of a state; refuses one that was not made for the circuit that is at rest like this."""
    if not isinstance(state, ComposedState):
        raise TypeError(f"state must be a ComposedState, such as CircuitResponse.state; got {type(state).__name__}")
    check.integer("state.n_steps", state.n_steps, low=0, high=_MOST_STEPS)
    kept, needed = sorted(state.arrays), sorted(rest)
    check.require(kept == needed, "state", f"have the arrays of this circuit ({', '.join(needed)})", ", ".join(kept))
    for name, like in rest.items():
        values = check.array(f"state.{name}", state.arrays[name], shape=like.shape, dtype=like.dtype)
        largest = float(np.abs(values).max(initial=0))
        most = _MOST_STEPS if name in _STEP_NUMBERS else _LARGEST
        check.require(largest <= most, f"state.{name}", "be moderate", largest)
        if name in _NOT_NEGATIVE:
            check.require(bool((values >= 0).all()), f"state.{name}", "be >= 0 everywhere", float(values.min()))
    if "scale" in rest:
        check.require(bool((state.arrays["scale"] > 0).all()), "state.scale", "be > 0 everywhere", "0 or less")
    return {name: np.array(state.arrays[name], order="C") for name in rest}


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
    short_term : Floats
        (samples, n_inputs, m) F of the synapses on these neurons; (samples, 0, m) without short-term STDP.
    """

    neurons: NDArray[np.int64]
    time_ms: Floats
    potential_mv: Floats
    threshold_mv: Floats
    excitation: Floats
    inhibition: Floats
    short_term: Floats


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
