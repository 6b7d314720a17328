"""The position in a stream as plain arrays, for a file or another process, and back; checked before it is run."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import STEP, CircuitState, ShortTermState
from springback.spiking._state_check import check_circuit_state, check_n_seen, check_short_term_state
from springback.spiking.gaps import Place, place_at_rest
from springback.spiking.model import SpikingModel
from springback.spiking.network import StreamState


def place_arrays(place: Place) -> dict[str, NDArray[Any]]:
    """The arrays of a place by name; records become one array for each of their fields."""
    arrays = {"clock": np.array([place.clock]), "n_seen": np.array([place.state.n_seen], np.int64)}
    for part, state in (("circuit", place.state.circuit), ("short_term", place.state.short_term)):
        for name, array in () if state is None else state._asdict().items():
            columns = {f".{one}": array[one] for one in array.dtype.names} if array.dtype.names else {"": array}
            arrays |= {f"{part}.{name}{tail}": np.ascontiguousarray(one) for tail, one in columns.items()}
    return arrays


def place_from(model: SpikingModel, arrays: Mapping[str, NDArray[Any]], *, adapts: bool) -> Place:
    """The place that these arrays hold, if it is one of this model."""
    rest = place_at_rest(model, adapts=adapts)
    wanted = place_arrays(rest)
    check.require(set(arrays) == set(wanted), "state", "hold the arrays of this circuit", sorted(arrays))
    for name, like in wanted.items():
        check.array(f"state.{name}", arrays[name], shape=like.shape, dtype=like.dtype, finite=False)
    clock, n_seen = float(arrays["clock"][0]), int(arrays["n_seen"][0])
    check.require(not np.isinf(clock), "state.clock", "be a time, or NaN before the first frame", clock)
    check_n_seen(n_seen)
    circuit = CircuitState(**_filled("circuit", rest.state.circuit, arrays))
    dtype = model.weights.resting.dtype.name
    check_circuit_state(circuit, model.preset.circuit, dtype)
    short_term = None
    if rest.state.short_term is not None:
        short_term = ShortTermState(**_filled("short_term", rest.state.short_term, arrays))
        check_short_term_state(
            short_term,
            model.preset.circuit,
            dtype,
            int(circuit.tally[STEP]),
            per_synapse=rest.state.short_term.stamp.size > 0,
        )
    return Place(StreamState(circuit, short_term, n_seen), clock)


def _filled(part: str, rest: Any, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    filled = {}
    for name, like in rest._asdict().items():
        if like.dtype.names:
            filled[name] = np.zeros_like(like)
            for one in like.dtype.names:
                filled[name][one] = arrays[f"{part}.{name}.{one}"]
        else:
            filled[name] = np.array(arrays[f"{part}.{name}"])
    return filled
