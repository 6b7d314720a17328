"""The state of a circuit between two runs: named arrays, checked before compiled code receives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.files.container import read, write

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
