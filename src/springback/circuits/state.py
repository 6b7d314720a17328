"""The state of a circuit between two runs: named arrays, checked before compiled code receives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.storage import DamagedError, read_tensors, save_tensors

_KIND = "circuit state"
_STEPS = "n_steps"
_LARGEST = 1e9
_MOST_STEPS = 2**53
_STEP_NUMBERS = ("last", "began", "fired")
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

    A state can be saved, and the run can continue in another program:

    >>> import tempfile
    >>> from springback.circuits import CircuitState, spikes_at
    >>> circuit = Circuit(np.full((1, 1), 40.0), neurons=Lif())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     circuit.run(spikes_at([0], [5.0], 5.5)).state.save(f"{folder}/state.safetensors")
    ...     state = CircuitState.load(f"{folder}/state.safetensors")
    >>> circuit.run(spikes_at([], [], 5.0), state=state).time_ms.tolist()  # the spike of that input
    [0.5]
    """

    arrays: Mapping[str, NDArray[Any]]
    n_steps: int = 0

    def save(self, path: str | Path) -> None:
        """Write the state to a file; a file that it replaces is kept next to it as `NAME.previous`."""
        arrays = {_STEPS: np.array([self.n_steps], np.int64), **self.arrays}
        save_tensors(Path(path), arrays, kind=_KIND, metadata={}, keep_previous=True)

    @classmethod
    def load(cls, path: str | Path) -> "CircuitState":
        """The state in a file; `circuit.run` refuses one that was not made for it."""
        arrays, _ = read_tensors(Path(path), kind=_KIND)
        steps = arrays.pop(_STEPS, np.zeros(0))
        if steps.shape != (1,) or steps.dtype != np.int64 or not 0 <= steps[0] <= _MOST_STEPS:
            raise DamagedError(f"{path} is not a usable state: it does not say how many steps have been run")
        return cls(arrays, int(steps[0]))


def checked_arrays(state: CircuitState, rest: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Copies of the arrays of a state; refuses one that was not made for the circuit that is at rest like this."""
    if not isinstance(state, CircuitState):
        raise TypeError(f"state must be a CircuitState, such as Response.state; got {type(state).__name__}")
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
