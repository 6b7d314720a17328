"""A record of state as plain arrays by name, as a file holds them, and back."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback import check

Record = TypeVar("Record", bound=tuple[NDArray[Any], ...])


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


def record_from(part: str, like: Record, arrays: Mapping[str, NDArray[Any]]) -> Record:
    """A record like the given one with these arrays; an array of another shape or dtype is refused."""
    for name, wanted in arrays_of(part, like).items():
        check.require(name in arrays, "the state", f"hold {name}", "none")
        check.array(f"state.{name}", arrays[name], shape=wanted.shape, dtype=wanted.dtype, finite=False)
    filled = []
    for name, array in zip(like._fields, like, strict=True):  # type: ignore[attr-defined]
        new = np.zeros_like(array)
        if array.dtype.names:
            for one in array.dtype.names:
                new[one] = arrays[f"{part}.{name}.{one}"]
        else:
            new[...] = arrays[f"{part}.{name}"]
        if array.dtype == np.bool_:
            marks = arrays[f"{part}.{name}"]
            check.require(bool((marks <= 1).all()), f"state.{part}.{name}", "be 0 or 1 everywhere", marks.max())
        filled.append(new)
    return type(like)(*filled)
