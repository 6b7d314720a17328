"""The position in a stream as plain arrays, for a file or another process, and back; checked before it is run."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state_arrays import arrays_of, record_from
from springback.spiking._state_check import check_n_seen, check_run
from springback.spiking.gaps import Place, place_at_rest
from springback.spiking.model import SpikingModel
from springback.spiking.network import StreamState


def place_arrays(place: Place) -> dict[str, NDArray[Any]]:
    """The arrays of a place by name; records become one array for each of their fields."""
    arrays = {"clock": np.array([place.clock]), "n_seen": np.array([place.state.n_seen], np.int64)}
    arrays |= arrays_of("circuit", place.state.circuit)
    if place.state.short_term is not None:
        arrays |= arrays_of("short_term", place.state.short_term)
    return arrays


def place_from(model: SpikingModel, arrays: Mapping[str, NDArray[Any]], *, adapts: bool) -> Place:
    """The place that these arrays hold, if it is one of this model."""
    rest = place_at_rest(model, adapts=adapts)
    check.require(set(arrays) == set(place_arrays(rest)), "state", "hold the arrays of this circuit", sorted(arrays))
    for name, dtype in (("clock", np.float64), ("n_seen", np.int64)):
        check.array(f"state.{name}", arrays[name], shape=(1,), dtype=dtype, finite=False)
    clock, n_seen = float(arrays["clock"][0]), int(arrays["n_seen"][0])
    check.require(not np.isinf(clock), "state.clock", "be a time, or NaN before the first frame", clock)
    check_n_seen(n_seen)
    circuit, stretch = record_from("circuit", rest.state.circuit, arrays), rest.state.short_term
    short_term = None if stretch is None else record_from("short_term", stretch, arrays)
    stamps = stretch is not None and stretch.stamp.size > 0
    name_of_dtype = model.weights.resting.dtype.name
    check_run(circuit, None, short_term, model.preset.circuit, name_of_dtype, per_synapse=stamps)
    return Place(StreamState(circuit, short_term, n_seen), clock)
