"""Refuse a state that does not belong to the circuit, or could index outside its arrays, before it is run.

Compiled loops do not check indices, and a state may come from a file or from another network. Therefore every array is
checked against the circuit: its shape, its dtype, that its numbers are finite, and that lists and marks are consistent.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from springback import check
from springback.spiking._state import (
    INHIBITION,
    N_FIRED,
    N_RECENT,
    N_SLOTS,
    N_TOUCHED,
    NEVER,
    STEP,
    THETA_SCALE,
    TRACE_SCALE,
    CircuitState,
    LongTermState,
    ShortTermState,
    recent_dtype,
    slot_dtype,
)
from springback.spiking.params import Circuit

LAST_STEP = 2**61
"""A step that no run reaches: a million years of half-millisecond steps."""

LARGEST = 1e30
"""A value that no potential, conductance or trace reaches, and whose square is finite in double precision."""

_WAIT_MAX = 2**30


def check_circuit_state(state: CircuitState, circuit: Circuit, dtype: str) -> None:
    """Refuse a state that does not fit this circuit and dtype."""
    k = circuit.n_neurons
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        **dict.fromkeys(("v", "ge", "theta", "inh_v"), ((k,), dtype)),
        "recent": ((k,), recent_dtype(dtype)),
        "place": ((k,), np.int32),
        "inh_step": ((k,), np.int64),
        "firing": ((k,), np.int32),
        "level": ((2,), np.float64),
        "tally": ((2,), np.int64),
    }
    _check_shapes("state.circuit", CircuitState, state, shapes)
    step, n_recent = int(state.tally[STEP]), int(state.tally[N_RECENT])
    within("state.circuit.tally", (step,), 0, LAST_STEP)
    within("state.circuit.tally", (n_recent,), 0, k)
    within("state.circuit.v", state.v, -LARGEST, LARGEST)
    within("state.circuit.ge", state.ge, 0, LARGEST)
    within("state.circuit.inh_v", state.inh_v, -LARGEST, LARGEST)
    within("state.circuit.inh_step", state.inh_step, 0, step)
    within("state.circuit.level", state.level[INHIBITION : INHIBITION + 1], 0, LARGEST)
    scale = float(state.level[THETA_SCALE])
    check.require(0 < scale <= 1, "state.circuit.level", "scale theta by a number in (0, 1]", scale)
    check.require(bool(np.isfinite(state.theta).all()), "state.circuit.theta", "be finite", "NaN or infinity")
    within("state.circuit.theta", state.theta.astype(np.float64) * scale, -LARGEST, LARGEST)
    recent = state.recent[:n_recent]
    check_list("state.circuit.recent", recent["neuron"], state.place, k)
    for name in ("wait", "partner_wait"):
        within(f"state.circuit.recent.{name}", recent[name], 0, _WAIT_MAX)
    for name in ("v", "partner_v"):
        within(f"state.circuit.recent.{name}", recent[name], -LARGEST, LARGEST)
    for name in ("ge", "own", "partner_ge"):
        within(f"state.circuit.recent.{name}", recent[name], 0, LARGEST)


def check_long_term_state(traces: LongTermState, circuit: Circuit, dtype: str, step: int) -> None:
    """Refuse traces that do not fit this circuit, or have spikes after `step`."""
    n, k = circuit.n_inputs, circuit.n_neurons
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "last_pre": ((n,), np.int64),
        "last_post": ((k,), np.int64),
        "touched": ((n,), np.int32),
        "is_touched": ((n,), np.bool_),
        "fired": ((k,), np.int32),
        "is_fired": ((k,), np.bool_),
        "loss": ((k,), dtype),
        "tally": ((2,), np.int64),
    }
    _check_shapes("state.traces", LongTermState, traces, shapes)
    within("state.traces.last_pre", traces.last_pre, NEVER, step)
    within("state.traces.last_post", traces.last_post, NEVER, step)
    for name, listed, marked, length in (
        ("touched", traces.touched, traces.is_touched, int(traces.tally[N_TOUCHED])),
        ("fired", traces.fired, traces.is_fired, int(traces.tally[N_FIRED])),
    ):
        within("state.traces.tally", (length,), 0, len(listed))
        within(f"state.traces.{name}", listed[:length], 0, len(listed) - 1)
        marks = np.zeros(len(listed), np.bool_)
        marks[listed[:length]] = True
        agree = int(marks.sum()) == length and bool((marks == marked).all())
        check.require(agree, f"state.traces.{name}", f"list once each what is_{name} marks", listed[:length])


def check_short_term_state(
    stretch: ShortTermState, circuit: Circuit, dtype: str, step: int, *, per_synapse: bool
) -> None:
    """Refuse short-term state that does not fit this circuit and plasticity, or has times after `step`."""
    n, k = circuit.n_inputs, circuit.n_neurons
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "trace": ((n,), dtype),
        "short": ((k, n), dtype),
        "slots": ((k,), slot_dtype(dtype)),
        "slot_of": ((k,), np.int32),
        "stamp": ((k, n) if per_synapse else (0, 0), np.int64),
        "activity": ((k, 2), np.int64),
        "level": ((1,), np.float64),
        "tally": ((1,), np.int64),
    }
    _check_shapes("state.short_term", ShortTermState, stretch, shapes)
    n_slots = int(stretch.tally[N_SLOTS])
    within("state.short_term.tally", (n_slots,), 0, k)
    slots = stretch.slots[:n_slots]
    check_list("state.short_term.slots", slots["neuron"], stretch.slot_of, k)
    scale = float(stretch.level[TRACE_SCALE])
    check.require(0 < scale <= 1, "state.short_term.level", "scale the traces by a number in (0, 1]", scale)
    within("state.short_term.trace", stretch.trace, 0, LARGEST)
    within("state.short_term.short", stretch.short[:n_slots], -LARGEST, LARGEST)
    within("state.short_term.slots.scale", slots["scale"], 0, 1)
    within("state.short_term.slots.bias", slots["bias"], -LARGEST, LARGEST)
    within("state.short_term.activity", stretch.activity, NEVER, step)
    if per_synapse:
        within("state.short_term.stamp", stretch.stamp[:n_slots], 0, step)


def check_run(
    state: CircuitState,
    traces: LongTermState | None,
    short_term: ShortTermState | None,
    circuit: Circuit,
    dtype: str,
    *,
    per_synapse: bool,
) -> None:
    """Refuse the state of a run, with the plasticity that it has, that does not fit this circuit and dtype."""
    check_circuit_state(state, circuit, dtype)
    step = int(state.tally[STEP])
    if traces is not None:
        check_long_term_state(traces, circuit, dtype, step)
    if short_term is not None:
        check_short_term_state(short_term, circuit, dtype, step, per_synapse=per_synapse)


def check_n_seen(n_seen: Any) -> None:
    """Refuse a number of images or frames that no run can have seen."""
    check.integer("state.n_seen", n_seen, low=0, high=LAST_STEP)


def _check_shapes(name: str, kind: type[Any], state: Any, shapes: dict[str, tuple[tuple[int, ...], Any]]) -> None:
    check.require(isinstance(state, kind), name, f"be a {kind.__name__}", type(state).__name__)
    for part, (shape, dtype) in shapes.items():
        check.array(f"{name}.{part}", getattr(state, part), shape=shape, dtype=dtype, finite=False)


def check_list(name: str, listed: NDArray[np.int32], place: NDArray[np.int32], n: int) -> None:
    """Refuse a list of neurons unless `place` holds the position of each of them, and -1 for all others."""
    within(name, listed, 0, n - 1)
    expected = np.full(n, -1, np.int32)
    expected[listed] = np.arange(len(listed))
    agree = bool((expected == place).all()) and len(np.unique(listed)) == len(listed)
    check.require(agree, name, "list each neuron once, where its place says", listed)


def within(name: str, values: Any, low: float, high: float) -> None:
    """Refuse values outside a range; NaN is outside every range."""
    values = np.asarray(values)
    if not bool(((values >= low) & (values <= high)).all()):
        check.require(False, name, f"lie in {low:g} ... {high:g}", (values.min(), values.max()))
