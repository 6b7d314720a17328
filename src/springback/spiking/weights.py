"""The weights that long-term learning writes, and the check that they pass before compiled code receives them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking.params import Circuit

Floats = NDArray[Any]

LARGEST_WEIGHT = 1e6
"""The largest weight; beyond it, a sum of weights could leave the range of single precision."""


class Weights(NamedTuple):
    """Result of long-term learning: `resting` (n_inputs, n_neurons), `theta` (n_neurons,) in mV above the offset."""

    resting: Floats
    theta: Floats


class CheckedWeights(Weights):
    """Weights that were checked and are read-only, so they do not have to be checked again.

    Copies of any kind (pickled, replaced) are plain `Weights`.
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[type[Weights], tuple[Floats, Floats]]:
        return Weights, (self.resting, self.theta)

    def _replace(self, **changed: Floats) -> Weights:  # type: ignore[override]
        return Weights(*self)._replace(**changed)


def check_weights(weights: Weights, circuit: Circuit) -> CheckedWeights:
    """Refuse weights of the wrong shape, dtype or range; returns them read-only, so they are checked only once.

    Examples
    --------
    >>> circuit = Circuit(n_inputs=2, n_neurons=3)
    >>> checked = check_weights(Weights(np.zeros((2, 3)), np.zeros(3)), circuit)
    >>> check_weights(checked, circuit) is checked, checked.resting.flags.writeable
    (True, False)
    """
    shape = (circuit.n_inputs, circuit.n_neurons)
    if isinstance(weights, CheckedWeights) and weights.resting.shape == shape:
        return weights
    dtype = getattr(weights.resting, "dtype", np.float32)
    resting = check.array("Weights.resting", weights.resting, shape=shape, dtype=dtype)
    check.one_of("Weights.resting.dtype", resting.dtype.name, ("float32", "float64"))
    theta = check.array("Weights.theta", weights.theta, shape=(circuit.n_neurons,), dtype=resting.dtype)
    check.require(bool((resting >= 0).all()), "Weights.resting", "be >= 0 everywhere", float(resting.min()))
    for name, value in (("Weights.resting", resting), ("Weights.theta", theta)):
        largest = float(np.abs(value).max())
        check.require(largest <= LARGEST_WEIGHT, name, f"be at most {LARGEST_WEIGHT:g} everywhere", largest)
    return CheckedWeights(_frozen(resting), _frozen(theta))


def _frozen(array: Floats) -> Floats:
    """A read-only copy: compiled inference receives it and cannot learn, and no other code can modify it."""
    copy = np.array(array, order="C")
    copy.flags.writeable = False
    return copy
