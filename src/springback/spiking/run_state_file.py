"""The state of a run on disk, so that it can continue later, in another program or on another machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.container import read, write
from springback.spiking._state import long_term_rest, rest_state, short_term_rest
from springback.spiking._state_arrays import arrays_of, record_from
from springback.spiking._state_check import check_n_seen, check_run
from springback.spiking.inference import StreamState
from springback.spiking.params import Circuit
from springback.spiking.recorded_runs import RunState
from springback.spiking.weights import Weights, check_weights

_PARTS = ("traces", "short_term", "n_seen")


@dataclass(frozen=True, eq=False)
class SavedRun:
    """The circuit of a run, its weights, and the arrays of its state by name."""

    circuit: Circuit
    arrays: dict[str, NDArray[Any]]


def save_run_state(path: str | Path, weights: Weights, state: RunState | StreamState, *, circuit: Circuit) -> None:
    """Write weights and state of a run; a file that it replaces is kept next to it as `NAME.previous`.

    Parameters
    ----------
    weights : Weights
        Those the run continues with: after a run that learns, `recording.weights`.
    state : RunState | StreamState
        `recording.state` of `simulate_spikes` or `record_stream`, or what `track` gives back.
    circuit : Circuit
        The circuit that was run; a file is only loaded for the same circuit.

    Examples
    --------
    >>> import tempfile
    >>> from springback.spiking import simulate_spikes
    >>> circuit = Circuit(n_inputs=3, n_neurons=2)
    >>> weights = Weights(np.full((3, 2), [30.0, 0.0]), np.full(2, 20.0))
    >>> spikes = np.array([0, 1, 2]), np.array([7, 8, 9])
    >>> whole = simulate_spikes(weights, *spikes, 100, circuit=circuit)
    >>> first = simulate_spikes(weights, spikes[0][:1], spikes[1][:1], 8, circuit=circuit)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_run_state(f"{folder}/run.safetensors", first.weights, first.state, circuit=circuit)
    ...     weights, state = load_run_state(f"{folder}/run.safetensors", circuit=circuit)
    >>> rest = simulate_spikes(weights, spikes[0][1:], spikes[1][1:] - 8, 92, circuit=circuit, state=state)
    >>> (rest.out_step + 8).tolist() == whole.out_step.tolist()
    True
    """
    if not isinstance(state, RunState | StreamState):
        raise TypeError(f"state must be a RunState or a StreamState; got {type(state).__name__}")
    frozen = check_weights(weights, circuit)
    _check(state, circuit, frozen.resting.dtype.name)
    arrays = {**frozen._asdict(), **arrays_of("circuit", state.circuit)}
    if isinstance(state, StreamState):
        arrays["n_seen"] = np.array([state.n_seen], np.int64)
    elif state.traces is not None:
        arrays |= arrays_of("traces", state.traces)
    if state.short_term is not None:
        arrays |= arrays_of("short_term", state.short_term)
    write(Path(path), "state", SavedRun(circuit, arrays), keep_previous=True)


def load_run_state(path: str | Path, *, circuit: Circuit) -> tuple[Weights, RunState | StreamState]:
    """The weights and the state to continue with; a state of another circuit is refused, and every value is checked."""

    def loaded(run: SavedRun) -> tuple[Weights, RunState | StreamState]:
        if run.circuit != circuit:
            raise DataError(f"{path} is the state of another circuit; give the circuit with which the run began")
        return _loaded(run.arrays, circuit)

    return read(Path(path), "state", SavedRun, loaded)


def _loaded(arrays: Mapping[str, NDArray[Any]], circuit: Circuit) -> tuple[Weights, RunState | StreamState]:
    weights = check_weights(Weights(arrays["resting"], arrays["theta"]), circuit)
    dtype = weights.resting.dtype.name
    has = {part: any(name.split(".")[0] == part for name in arrays) for part in _PARTS}
    like: dict[str, Any] = {"circuit": rest_state(circuit, weights.theta, dtype)}
    if has["traces"]:
        like["traces"] = long_term_rest(circuit, dtype)
    if has["short_term"]:
        stamps = arrays["short_term.stamp"].size > 0
        like["short_term"] = short_term_rest(circuit, dtype, per_synapse=stamps)
    names = {"resting", "theta", *(["n_seen"] if has["n_seen"] else [])}
    names |= {name for part, record in like.items() for name in arrays_of(part, record)}
    check.require(set(arrays) == names, "the file", "hold the arrays of a run", sorted(arrays))
    found = {part: record_from(part, record, arrays) for part, record in like.items()}
    state: RunState | StreamState
    if has["n_seen"]:
        n_seen = check.array("n_seen", arrays["n_seen"], shape=(1,), dtype=np.int64)
        state = StreamState(found["circuit"], found.get("short_term"), int(n_seen[0]))
    else:
        state = RunState(found["circuit"], found.get("traces"), found.get("short_term"))
    _check(state, circuit, dtype)
    return weights, state


def _check(state: RunState | StreamState, circuit: Circuit, dtype: str) -> None:
    if isinstance(state, StreamState):
        check_n_seen(state.n_seen)
    traces = None if isinstance(state, StreamState) else state.traces
    stamps = state.short_term is not None and state.short_term.stamp.size > 0
    check_run(state.circuit, traces, state.short_term, circuit, dtype, per_synapse=stamps)
