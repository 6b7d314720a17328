"""Refuse a state that does not belong to the circuit, or could index outside its arrays, before it is run.

Compiled loops do not check indices, and a state may come from a file or from another network. Therefore every array is
checked: its shape and dtype against those of a state at rest, that its numbers are finite, and that lists and marks are
consistent.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import (
    NEVER,
    CircuitState,
    LongTermState,
    RunState,
    ShortTermState,
    long_term_rest,
    rest_state,
    short_term_rest,
)
from springback.spiking.params import Circuit

LAST_STEP = 2**61
"""A step that no run reaches: a million years of half-millisecond steps."""

LARGEST = 1e30
"""A value that no potential, conductance or trace reaches, and whose square is finite in double precision."""

_WAIT_MAX = 2**30

Shapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def check_circuit_state(state: CircuitState, circuit: Circuit, dtype: str) -> None:
    """Refuse a state that does not fit this circuit and dtype."""
    k, name = circuit.n_neurons, "state.circuit"
    check_like(name, state, CircuitState, _circuit_shapes(circuit, dtype))
    common = state.common[0]
    within(f"{name}.common.step", (common["step"],), 0, LAST_STEP)
    within(f"{name}.common.n_recent", (common["n_recent"],), 0, k)
    within(f"{name}.common.inhibition", (common["inhibition"],), 0, LARGEST)
    check_scale(f"{name}.common.theta_scale", common["theta_scale"])
    check_ranges(name, state, signed=("v", "inh_v"), unsigned=("ge",))
    within(f"{name}.inh_step", state.inh_step, 0, state.step)
    check.require(bool(np.isfinite(state.theta).all()), f"{name}.theta", "be finite", "NaN or infinity")
    within(f"{name}.theta", state.theta.astype(np.float64) * common["theta_scale"], -LARGEST, LARGEST)
    recent = state.recent[: common["n_recent"]]
    check_list(f"{name}.recent", recent["neuron"], state.place, k)
    for part in ("wait", "partner_wait"):
        within(f"{name}.recent.{part}", recent[part], 0, _WAIT_MAX)
    for part in ("v", "partner_v", "ge", "own", "partner_ge"):
        within(f"{name}.recent.{part}", recent[part], -LARGEST if part.endswith("v") else 0, LARGEST)


def check_long_term_state(traces: LongTermState, circuit: Circuit, dtype: str, step: int) -> None:
    """Refuse traces that do not fit this circuit, or have spikes after `step`."""
    check_like("state.traces", traces, LongTermState, _long_term_shapes(circuit, dtype))
    for last in ("last_pre", "last_post"):
        within(f"state.traces.{last}", getattr(traces, last), NEVER, step)
    for name in ("touched", "fired"):
        listed, length = getattr(traces, name), int(traces.common[f"n_{name}"][0])
        within(f"state.traces.common.n_{name}", (length,), 0, len(listed))
        check_marks(f"state.traces.{name}", listed[:length], getattr(traces, f"is_{name}"))


def check_short_term_state(
    stretch: ShortTermState, circuit: Circuit, dtype: str, step: int, *, per_synapse: bool
) -> None:
    """Refuse short-term state that does not fit this circuit and plasticity, or has times after `step`."""
    name = "state.short_term"
    check_like(name, stretch, ShortTermState, _short_term_shapes(circuit, dtype, per_synapse))
    n_slots = stretch.n_slots
    within(f"{name}.common.n_slots", (n_slots,), 0, circuit.n_neurons)
    slots = stretch.slots[:n_slots]
    check_list(f"{name}.slots", slots["neuron"], stretch.slot_of, circuit.n_neurons)
    check_scale(f"{name}.common.trace_scale", stretch.common["trace_scale"][0])
    within(f"{name}.trace", stretch.trace, 0, LARGEST)
    within(f"{name}.short", stretch.short[:n_slots], -LARGEST, LARGEST)
    within(f"{name}.slots.scale", slots["scale"], 0, 1)
    within(f"{name}.slots.bias", slots["bias"], -LARGEST, LARGEST)
    within(f"{name}.activity", stretch.activity, NEVER, step)
    if per_synapse:
        within(f"{name}.stamp", stretch.stamp[:n_slots], 0, step)


def check_run(state: RunState, circuit: Circuit, dtype: str, *, per_synapse: bool = False) -> None:
    """Refuse the state of a run, with the plasticity that it has, that does not fit this circuit and dtype."""
    if not isinstance(state, RunState):
        raise TypeError(f"state must be a RunState; got {type(state).__name__}")
    check_n_seen(state.n_seen)
    check_circuit_state(state.circuit, circuit, dtype)
    step = state.circuit.step
    if state.traces is not None:
        check_long_term_state(state.traces, circuit, dtype, step)
    if state.short_term is not None:
        check_short_term_state(state.short_term, circuit, dtype, step, per_synapse=per_synapse)


def check_n_seen(n_seen: Any) -> None:
    """Refuse a number of images or frames that no run can have seen."""
    check.integer("state.n_seen", n_seen, low=0, high=LAST_STEP)


def shapes_of(rest: Any) -> Shapes:
    """The shapes and dtypes of the arrays of a state at rest."""
    return {name: (array.shape, array.dtype) for name, array in rest._asdict().items()}


# Remembered, because a state at rest can be as large as the weights, and every frame of a live stream is checked.
@lru_cache(maxsize=8)
def _circuit_shapes(circuit: Circuit, dtype: str) -> Shapes:
    return shapes_of(rest_state(circuit, np.zeros(circuit.n_neurons), dtype))


@lru_cache(maxsize=8)
def _long_term_shapes(circuit: Circuit, dtype: str) -> Shapes:
    return shapes_of(long_term_rest(circuit, dtype))


@lru_cache(maxsize=8)
def _short_term_shapes(circuit: Circuit, dtype: str, per_synapse: bool) -> Shapes:
    return shapes_of(short_term_rest(circuit, dtype, per_synapse=per_synapse))


def check_like(name: str, state: Any, kind: type[Any], shapes: Shapes) -> None:
    """Refuse what is not a record of this kind, with arrays of these shapes and dtypes."""
    check.require(isinstance(state, kind), name, f"be a {kind.__name__}", type(state).__name__)
    for part, (shape, dtype) in shapes.items():
        check.array(f"{name}.{part}", getattr(state, part), shape=shape, dtype=dtype, finite=False)


def check_ranges(name: str, state: Any, *, signed: tuple[str, ...], unsigned: tuple[str, ...]) -> None:
    """Refuse arrays of a state with numbers that no run reaches."""
    for part in (*signed, *unsigned):
        within(f"{name}.{part}", getattr(state, part), 0 if part in unsigned else -LARGEST, LARGEST)


def check_scale(name: str, scale: float) -> None:
    """Refuse the common factor of an array unless it can be divided by."""
    check.require(bool(0 < scale <= 1), name, "lie in (0, 1]", float(scale))


def check_list(name: str, listed: NDArray[np.int32], place: NDArray[np.int32], n: int) -> None:
    """Refuse a list of neurons unless `place` holds the position of each of them, and -1 for all others."""
    within(name, listed, 0, n - 1)
    expected = np.full(n, -1, np.int32)
    expected[listed] = np.arange(len(listed))
    agree = bool((expected == place).all()) and len(np.unique(listed)) == len(listed)
    check.require(agree, name, "list each neuron once, where its place says", listed)


def check_marks(name: str, listed: NDArray[np.int32], marked: NDArray[np.bool_]) -> None:
    """Refuse a list unless it names once each what is marked."""
    within(name, listed, 0, len(marked) - 1)
    marks = np.zeros(len(marked), np.bool_)
    marks[listed] = True
    agree = int(marks.sum()) == len(listed) and bool((marks == marked).all())
    check.require(agree, name, f"list once each what is_{name.rpartition('.')[2]} marks", listed)


def within(name: str, values: Any, low: float, high: float) -> None:
    """Refuse values outside a range; NaN is outside every range."""
    values = np.asarray(values)
    if not bool(((values >= low) & (values <= high)).all()):
        check.require(False, name, f"lie in {low:g} ... {high:g}", (values.min(), values.max()))
