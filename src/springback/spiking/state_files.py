"""States as arrays by name, and on disk: checkpoints of a training, and runs that continue later or elsewhere.

Everything is checked before compiled code receives it.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.check import DataError
from springback.files.checkpoints import read_checkpoint, write_checkpoint
from springback.files.container import read, write
from springback.spiking._state import RunState, long_term_rest, rest_state, short_term_rest
from springback.spiking._state_check import check_run
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import parts_of_training
from springback.spiking.weights import Weights, check_weights


def arrays_of(part: str, record: Any) -> dict[str, NDArray[Any]]:
    """The arrays of a record by name; structured arrays become one array for each field, marks become 0 and 1.

    Examples
    --------
    >>> from springback.spiking._state import short_term_rest
    >>> from springback.spiking.params import Circuit
    >>> list(arrays_of("short_term", short_term_rest(Circuit(n_inputs=3, n_neurons=2), "float32")))[2:4]
    ['short_term.slots.neuron', 'short_term.slots.scale']
    """
    arrays = {}
    for name, array in record._asdict().items():
        columns = {f".{one}": array[one] for one in array.dtype.names} if array.dtype.names else {"": array}
        for tail, column in columns.items():
            plain = column.astype(np.uint8) if column.dtype == np.bool_ else column
            arrays[f"{part}.{name}{tail}"] = np.ascontiguousarray(plain)
    return arrays


def parts_as_arrays(**parts: Any) -> dict[str, NDArray[Any]]:
    """The arrays of the parts of a state by name: records, arrays and single numbers; a part that is None has none."""
    arrays: dict[str, NDArray[Any]] = {}
    for part, value in parts.items():
        if isinstance(value, tuple):
            arrays |= arrays_of(part, value)
        elif value is not None:
            arrays[part] = np.atleast_1d(value)
    return arrays


def parts_from(arrays: Mapping[str, NDArray[Any]], whose: str, **like: Any) -> dict[str, Any]:
    """The parts of a state, like the given ones; arrays of other names, shapes or dtypes are refused."""
    wanted = parts_as_arrays(**like)
    check.require(set(arrays) == set(wanted), "the state", f"hold the arrays of {whose}", sorted(arrays))
    for name, one in wanted.items():
        check.array(f"state.{name}", arrays[name], shape=one.shape, dtype=one.dtype, finite=False)
    found = {part: arrays.get(part, one) for part, one in like.items()}
    return {part: _filled(part, one, arrays) if isinstance(one, tuple) else one for part, one in found.items()}


def _filled(part: str, like: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """A record like the given one with these arrays."""
    filled = []
    for name, array in zip(like._fields, like, strict=True):
        new = np.zeros_like(array)
        for one in array.dtype.names or ():
            new[one] = arrays[f"{part}.{name}.{one}"]
        if not array.dtype.names:
            new[...] = arrays[f"{part}.{name}"]
        if array.dtype == np.bool_:
            marks = arrays[f"{part}.{name}"]
            check.require(bool((marks <= 1).all()), f"state.{part}.{name}", "be 0 or 1 everywhere", marks.max())
        filled.append(new)
    return type(like)(*filled)


def save_checkpoint(
    state: RunState,
    path: Path,
    *,
    circuit: Circuit,
    long_term: LongTermStdp,
    training: Presentation,
    seed: int,
    data: str,
) -> None:
    """Save the state of training, so that `load_checkpoint` can resume from exactly there."""
    write_checkpoint(path, _describe(circuit, long_term, training, seed, data), parts_as_arrays(**state._asdict()))


def load_checkpoint(
    path: Path, *, circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> RunState:
    """Load the state of a training; refused if it belongs to another training.

    If the file is missing or damaged, training resumes from the previous version, with a warning.
    """
    wanted = _describe(circuit, long_term, training, seed, data)
    return read_checkpoint(path, wanted, lambda arrays: _state(arrays, circuit))


def _state(arrays: Mapping[str, NDArray[Any]], circuit: Circuit) -> RunState:
    dtype = arrays["resting"].dtype.name if "resting" in arrays else "missing"
    check.one_of("resting.dtype", dtype, ("float32", "float64"))
    rest, traces = rest_state(circuit, np.zeros(circuit.n_neurons), dtype), long_term_rest(circuit, dtype)
    found = parts_from(arrays, "a training", resting=arrays["resting"], circuit=rest, traces=traces, n_seen=0)
    state = RunState(**{**found, "n_seen": int(found["n_seen"][0])})
    parts_of_training(state, circuit)
    return state


def _describe(
    circuit: Circuit, long_term: LongTermStdp, training: Presentation, seed: int, data: str
) -> dict[str, str]:
    params = {"circuit": asdict(circuit), "long_term": asdict(long_term), "training": asdict(training)}
    return {"params": json.dumps(params, sort_keys=True), "seed": str(seed), "data": data}


@dataclass(frozen=True, eq=False)
class SavedRun:
    """The circuit of a run, its weights, and the arrays of its state by name."""

    circuit: Circuit
    arrays: dict[str, NDArray[Any]]


def save_run_state(path: str | Path, weights: Weights, state: RunState, *, circuit: Circuit) -> None:
    """Write weights and state of a run; a file that it replaces is kept next to it as `NAME.previous`.

    Parameters
    ----------
    weights : Weights
        Those the run continues with: after a run that learns, `recording.weights`.
    state : RunState
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
    frozen = check_weights(weights, circuit)
    _check(state, circuit, frozen.resting.dtype.name)
    arrays = parts_as_arrays(**{**state._asdict(), **frozen._asdict()})
    write(Path(path), "state", SavedRun(circuit, arrays), keep_previous=True)


def load_run_state(path: str | Path, *, circuit: Circuit) -> tuple[Weights, RunState]:
    """The weights and the state to continue with; a state of another circuit is refused, and every value is checked."""

    def loaded(run: SavedRun) -> tuple[Weights, RunState]:
        if run.circuit != circuit:
            raise DataError(f"{path} is the state of another circuit; give the circuit with which the run began")
        return _loaded(run.arrays, circuit)

    return read(Path(path), "state", SavedRun, loaded)


def _loaded(arrays: Mapping[str, NDArray[Any]], circuit: Circuit) -> tuple[Weights, RunState]:
    weights = check_weights(Weights(arrays["resting"], arrays["theta"]), circuit)
    dtype = weights.resting.dtype.name
    has = {name.split(".")[0] for name in arrays}
    stamps = "short_term" in has and arrays["short_term.stamp"].size > 0
    like = {
        "circuit": rest_state(circuit, weights.theta, dtype),
        "traces": long_term_rest(circuit, dtype) if "traces" in has else None,
        "short_term": short_term_rest(circuit, dtype, per_synapse=stamps) if "short_term" in has else None,
        "n_seen": 0,
    }
    found = parts_from(arrays, "a run", **weights._asdict(), **like)
    state = RunState(**{name: found[name] for name in like})._replace(n_seen=int(found["n_seen"][0]))
    _check(state, circuit, dtype)
    return weights, state


def _check(state: RunState, circuit: Circuit, dtype: str) -> None:
    short_term = getattr(state, "short_term", None)
    check_run(state, circuit, dtype, per_synapse=short_term is not None and short_term.stamp.size > 0)
    must = "be that of a run whose weights are given; a training is saved by save_checkpoint"
    check.require(state.resting is None, "state", must, "that of a training")
