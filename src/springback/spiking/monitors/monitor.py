"""`Monitor`: one quantity of the circuit, of chosen neurons and inputs, at chosen times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking import _watch
from springback.spiking.params import Circuit

MOST_SAMPLED = 1 << 28
"""The largest number of values in one sample of one monitor; they take 1 GiB."""


class Quantity(NamedTuple):
    """What can be monitored.

    Parameters
    ----------
    code : int
        Its number in the compiled loops.
    unit : str
        "mV", or "1" for what has no unit.
    axes : tuple[str, ...]
        What one sample runs over: neurons, inputs, or inputs and neurons.
    needs : str
        The plasticity without which it does not exist: "long-term", "short-term" or "".
    says : str
        What it is.
    """

    code: int
    unit: str
    axes: tuple[str, ...]
    needs: str
    says: str


_NEURONS, _INPUTS, _SYNAPSES = ("neurons",), ("inputs",), ("inputs", "neurons")

QUANTITIES = {
    "potential_mv": Quantity(_watch.POTENTIAL, "mV", _NEURONS, "", "membrane potential of excitatory neurons"),
    "threshold_mv": Quantity(_watch.THRESHOLD, "mV", _NEURONS, "", "potential at which a neuron fires"),
    "excitation": Quantity(_watch.EXCITATION, "1", _NEURONS, "", "excitatory conductance, relative to the leak"),
    "inhibition": Quantity(_watch.INHIBITION_FELT, "1", _NEURONS, "", "inhibitory conductance, relative to the leak"),
    "partner_potential_mv": Quantity(
        _watch.PARTNER_POTENTIAL, "mV", _NEURONS, "", "membrane potential of the neuron's inhibitory partner"
    ),
    "partner_excitation": Quantity(
        _watch.PARTNER_CONDUCTANCE, "1", _NEURONS, "", "excitatory conductance of the inhibitory partner"
    ),
    "pre_trace": Quantity(_watch.PRE_TRACE, "1", _INPUTS, "long-term", "trace of an input's last spike"),
    "post_trace_1": Quantity(_watch.POST_TRACE_1, "1", _NEURONS, "long-term", "fast trace of a neuron's last spike"),
    "post_trace_2": Quantity(_watch.POST_TRACE_2, "1", _NEURONS, "long-term", "slow trace of a neuron's last spike"),
    "input_trace": Quantity(_watch.INPUT_TRACE, "1", _INPUTS, "short-term", "sum of the traces of an input's spikes"),
    "W": Quantity(_watch.RESTING, "1", _SYNAPSES, "", "resting weight, which long-term STDP changes"),
    "F": Quantity(_watch.SHORT_TERM, "1", _SYNAPSES, "short-term", "short-term part, which springs back"),
    "G": Quantity(_watch.EFFICACY, "1", _SYNAPSES, "", "efficacy, W + F"),
}
"""Every quantity that can be monitored, by its name; values are those at the end of a step."""


@dataclass(frozen=True, eq=False)
class Monitor:
    """One quantity, of chosen neurons and inputs, every few steps or at chosen times.

    At most one of `every_steps`, `every_ms`, `at_steps` and `at_ms` is given; without any, every step is sampled. Times
    count from where the recording begins; a sample is what holds at the end of that step.

    Parameters
    ----------
    quantity : str
        A name of `QUANTITIES`: "potential_mv", "threshold_mv", "excitation", "inhibition", "partner_potential_mv",
        "partner_excitation", "pre_trace", "post_trace_1", "post_trace_2", "input_trace", "W", "F" or "G".
    neurons, inputs : Sequence[int] | None
        Which of them; None: all. A quantity of neurons has no inputs, and one of inputs no neurons.
    every_steps, every_ms
        The interval between two samples.
    at_steps, at_ms
        The times of the samples, in increasing order.

    Examples
    --------
    >>> Monitor("potential_mv", neurons=[3, 7], every_ms=5.0).quantity
    'potential_mv'
    >>> Monitor("voltage")
    Traceback (most recent call last):
    ValueError: Monitor.quantity must be one of 'potential_mv', 'threshold_mv', ...
    """

    quantity: str
    neurons: Sequence[int] | NDArray[np.integer] | None = None
    inputs: Sequence[int] | NDArray[np.integer] | None = None
    every_steps: int | None = None
    every_ms: float | None = None
    at_steps: Sequence[int] | NDArray[np.integer] | None = None
    at_ms: Sequence[float] | NDArray[np.floating] | None = None

    def __post_init__(self) -> None:
        check.one_of("Monitor.quantity", self.quantity, tuple(QUANTITIES))
        axes = QUANTITIES[self.quantity].axes
        for axis in ("neurons", "inputs"):
            unfit = axis not in axes and getattr(self, axis) is not None
            check.require(not unfit, f"Monitor.{axis}", f"be None, since {self.quantity} has none", "some")
        given = [name for name in ("every_steps", "every_ms", "at_steps", "at_ms") if getattr(self, name) is not None]
        check.require(len(given) <= 1, "Monitor", "have one kind of times", " and ".join(given))
        if self.every_steps is not None:
            check.integer("Monitor.every_steps", self.every_steps, low=1)
        check.reals(self, "every_ms", above=0, or_none=True)

    def interval(self, dt_ms: float) -> int:
        """Steps between two samples; 0 if its times are chosen."""
        if self.at_steps is not None or self.at_ms is not None:
            return 0
        return whole_steps("Monitor.every_ms", self.every_ms, dt_ms) if self.every_ms else self.every_steps or 1

    def times(self, dt_ms: float) -> NDArray[np.int64]:
        """The chosen steps, in increasing order; empty if samples are taken at intervals."""
        if self.at_ms is not None:
            found = np.array([whole_steps("Monitor.at_ms", one, dt_ms) for one in self.at_ms], np.int64)
        else:
            at = () if self.at_steps is None else self.at_steps
            found = np.array([check.integer("Monitor.at_steps", one, low=0) for one in at], np.int64)
        increasing = bool((np.diff(found) > 0).all()) and bool((found >= 0).all())
        check.require(increasing, "the times of a Monitor", "be >= 0 and increase", found)
        return found

    def indices(self, axis: str, circuit: Circuit) -> NDArray[np.int32]:
        """The chosen neurons or inputs; empty if the quantity has none of them."""
        if axis not in QUANTITIES[self.quantity].axes:
            return np.zeros(0, np.int32)
        total = circuit.n_neurons if axis == "neurons" else circuit.n_inputs
        chosen = getattr(self, axis)
        if chosen is None:
            return np.arange(total, dtype=np.int32)
        return np.array([check.integer(f"Monitor.{axis}", one, low=0, high=total - 1) for one in chosen], np.int32)

    def shape(self, circuit: Circuit) -> tuple[int, ...]:
        """The shape of one sample."""
        found = tuple(len(self.indices(axis, circuit)) for axis in QUANTITIES[self.quantity].axes)
        size = int(np.prod(found))
        check.require(
            0 < size <= MOST_SAMPLED, f"a sample of {self.quantity}", f"have 1 ... {MOST_SAMPLED:,} values", size
        )
        return found


def whole_steps(name: str, time_ms: float, dt_ms: float) -> int:
    """A time in steps; refused unless it is a multiple of the time step.

    Examples
    --------
    >>> whole_steps("Monitor.every_ms", 5.0, 0.5)
    10
    >>> whole_steps("Monitor.every_ms", 0.7, 0.5)
    Traceback (most recent call last):
    ValueError: Monitor.every_ms must be a multiple of dt_ms = 0.5; got 0.7
    """
    time_ms = check.real(name, time_ms)
    steps = round(time_ms / dt_ms)
    fits = abs(steps * dt_ms - time_ms) <= 1e-6 * dt_ms * max(1, abs(steps)) and (steps > 0 or time_ms == 0)
    check.require(fits, name, f"be a multiple of dt_ms = {dt_ms:g}", time_ms)
    return steps
