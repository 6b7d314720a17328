"""The state of a circuit between two runs: named arrays, checked before compiled code receives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check

_LARGEST = 1e9
_NOT_NEGATIVE = ("weights", "ge", "wait", "partner_ge", "partner_wait", "own", "level")


@dataclass(frozen=True, eq=False)
class CircuitState:
    """Where a run stopped; `circuit.run(spikes, state=response.state)` goes on from there.

    Parameters
    ----------
    arrays : Mapping[str, NDArray[Any]]
        What the circuit's parts keep: weights, potentials `v`, conductances `ge`, thresholds `theta`, traces.
    n_steps : int
        Steps since rest.

    Examples
    --------
    >>> from springback.circuits import Circuit, Lif
    >>> sorted(Circuit(np.ones((3, 2)), neurons=Lif()).rest().arrays)
    ['ge', 'level', 'theta', 'v', 'wait', 'weights']
    """

    arrays: Mapping[str, NDArray[Any]]
    n_steps: int = 0


def checked_arrays(state: CircuitState, rest: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Copies of the arrays of a state; refuses one that was not made for the circuit that is at rest like this."""
    if not isinstance(state, CircuitState):
        raise TypeError(f"state must be a CircuitState, such as Response.state; got {type(state).__name__}")
    check.integer("state.n_steps", state.n_steps, low=0, high=2**53)
    kept, needed = sorted(state.arrays), sorted(rest)
    check.require(kept == needed, "state", f"have the arrays of this circuit ({', '.join(needed)})", ", ".join(kept))
    for name, like in rest.items():
        values = check.array(f"state.{name}", state.arrays[name], shape=like.shape, dtype=like.dtype)
        largest = float(np.abs(values).max(initial=0))
        check.require(largest <= max(_LARGEST, 2**53 if name == "last" else 0), f"state.{name}", "be moderate", largest)
        if name in _NOT_NEGATIVE:
            check.require(bool((values >= 0).all()), f"state.{name}", "be >= 0 everywhere", float(values.min()))
    if "scale" in rest:
        check.require(bool((state.arrays["scale"] > 0).all()), "state.scale", "be > 0 everywhere", "0 or less")
    return {name: np.array(state.arrays[name], order="C") for name in rest}
