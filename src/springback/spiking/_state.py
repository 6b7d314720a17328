"""The state that a presentation changes. Each record has one constructor, which fixes dtype and order."""

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from springback.spiking.params import Circuit

Floats = NDArray[Any]
State = TypeVar("State", bound=tuple[NDArray[Any], ...])

BEGAN, LAST = 0, 1
"""Columns of `ShortTermState.activity`."""

NEVER = -(1 << 40)
"""A step long before the first."""

_WHOLE, _REAL = np.int64, np.float64
CIRCUIT_COMMON = np.dtype([("step", _WHOLE), ("n_recent", _WHOLE), ("inhibition", _REAL), ("theta_scale", _REAL)])
LONG_TERM_COMMON = np.dtype([("n_touched", _WHOLE), ("n_fired", _WHOLE)])
SHORT_TERM_COMMON = np.dtype([("n_slots", _WHOLE), ("trace_scale", _REAL)])
"""What all neurons share: one record each, which compiled code changes in place."""


class CircuitState(NamedTuple):
    """The circuit at one moment; k runs over neurons.

    v, ge           (k) potential in mV, excitatory conductance
    theta           (k) adaptive threshold in mV, divided by common.theta_scale
    recent          records of the common.n_recent neurons that fired recently, see `recent_dtype`
    place           (k) a neuron's place among the recent, or -1
    inh_v, inh_step (k) its partner's potential when it was last computed, and when that was
    firing          (k) scratch: the neurons that fire in this step
    common          (1) record: step, number of recent neurons, common inhibitory conductance, scale of theta
    """

    v: Floats
    ge: Floats
    theta: Floats
    recent: NDArray[np.void]
    place: NDArray[np.int32]
    inh_v: Floats
    inh_step: NDArray[np.int64]
    firing: NDArray[np.int32]
    common: NDArray[np.void]

    @property
    def step(self) -> int:
        """How many time steps have passed."""
        return int(self.common["step"][0])


def recent_dtype(dtype: str) -> np.dtype[np.void]:
    """A neuron that fired recently, and its inhibitory partner.

    Notes
    -----
    `neuron`: its index
    `v, ge`: its potential and conductance before the step
    `own`: the contribution of its own partner to the common inhibition, which does not act on it
    `partner_v, partner_ge`: its partner's potential and conductance
    `wait, partner_wait`: steps that it and its partner stay refractory
    """
    floats = [(name, dtype) for name in ("v", "ge", "own", "partner_v", "partner_ge")]
    return np.dtype([("neuron", np.int32), *floats, ("wait", np.int32), ("partner_wait", np.int32)], align=True)


class LongTermState(NamedTuple):
    """Traces of long-term STDP; j runs over inputs, k over neurons.

    Parameters
    ----------
    last_pre, last_post : NDArray[np.int64]
        (j), (k) step of the last spike, or NEVER.
    touched, is_touched
        The inputs whose trace is not negligible: list, and mark (j).
    fired, is_fired
        The neurons whose first trace is not negligible: list, and mark (k).
    loss : Floats
        Scratch: what an input spike costs each neuron of that list in this step.
    common : NDArray[np.void]
        (1) record: the lengths of these two lists, n_touched and n_fired.
    """

    last_pre: NDArray[np.int64]
    last_post: NDArray[np.int64]
    touched: NDArray[np.int32]
    is_touched: NDArray[np.bool_]
    fired: NDArray[np.int32]
    is_fired: NDArray[np.bool_]
    loss: Floats
    common: NDArray[np.void]


class ShortTermState(NamedTuple):
    """F and its traces. Only neurons that fired recently have any F; each such neuron has a slot s.

    Parameters
    ----------
    trace : Floats
        (j) input traces, divided by common.trace_scale.
    short : Floats
        (s, j) F of the slot's neuron, divided by the slot's scale.
    slots : NDArray[np.void]
        Records of the common.n_slots stretched neurons, see `slot_dtype`.
    slot_of : NDArray[np.int32]
        (k) a neuron's slot, or -1.
    stamp : NDArray[np.int64]
        (s, j) step at which F was last decayed; only with a time constant per synapse, else empty.
    activity : NDArray[np.int64]
        (k, 2) step at which a neuron became active, and that of its last spike, or NEVER; kept only with a delay.
    common : NDArray[np.void]
        (1) record: number of slots, scale of the traces.
    """

    trace: Floats
    short: Floats
    slots: NDArray[np.void]
    slot_of: NDArray[np.int32]
    stamp: NDArray[np.int64]
    activity: NDArray[np.int64]
    common: NDArray[np.void]

    @property
    def n_slots(self) -> int:
        """How many neurons are stretched."""
        return int(self.common["n_slots"][0])


class RunState(NamedTuple):
    """Where a run stands: a training, a stream, or a run that is driven by spikes; a part that it has not is None.

    Parameters
    ----------
    circuit : CircuitState
        Potentials, conductances and thresholds.
    short_term : ShortTermState | None
        F and its traces, with short-term STDP.
    traces : LongTermState | None
        Those of long-term STDP, if it learns.
    resting : Floats | None
        The weights so far, of a training.
    n_seen : int
        How many images or frames it has seen.
    """

    circuit: CircuitState
    short_term: ShortTermState | None = None
    traces: LongTermState | None = None
    resting: Floats | None = None
    n_seen: int = 0


def slot_dtype(dtype: str) -> np.dtype[np.void]:
    """A stretched neuron: its index, the common factor of its F, its soma's bias in mV."""
    return np.dtype([("neuron", np.int32), ("scale", dtype), ("bias", dtype)], align=True)


def rest_state(circuit: Circuit, theta: Floats, dtype: str) -> CircuitState:
    """The circuit at rest, with the given thresholds (mV above the offset)."""
    k = circuit.n_neurons
    return CircuitState(
        v=np.full(k, circuit.excitatory.v_rest_mv, dtype),
        ge=np.zeros(k, dtype),
        theta=np.array(theta, dtype),
        recent=np.zeros(k, recent_dtype(dtype)),
        place=np.full(k, -1, np.int32),
        inh_v=np.full(k, circuit.inhibitory.v_rest_mv, dtype),
        inh_step=np.zeros(k, np.int64),
        firing=np.zeros(k, np.int32),
        common=np.array([(0, 0, 0.0, 1.0)], CIRCUIT_COMMON),
    )


def long_term_rest(circuit: Circuit, dtype: str) -> LongTermState:
    """Traces at rest: no spike so far."""
    n, k = circuit.n_inputs, circuit.n_neurons
    return LongTermState(
        last_pre=np.full(n, NEVER, np.int64),
        last_post=np.full(k, NEVER, np.int64),
        touched=np.zeros(n, np.int32),
        is_touched=np.zeros(n, np.bool_),
        fired=np.zeros(k, np.int32),
        is_fired=np.zeros(k, np.bool_),
        loss=np.zeros(k, dtype),
        common=np.zeros(1, LONG_TERM_COMMON),
    )


def short_term_rest(circuit: Circuit, dtype: str, *, per_synapse: bool = False) -> ShortTermState:
    """Short-term state at rest: F = 0 everywhere."""
    n, k = circuit.n_inputs, circuit.n_neurons
    return ShortTermState(
        trace=np.zeros(n, dtype),
        short=np.zeros((k, n), dtype),
        slots=np.zeros(k, slot_dtype(dtype)),
        slot_of=np.full(k, -1, np.int32),
        stamp=np.zeros((k, n) if per_synapse else (0, 0), np.int64),
        activity=np.full((k, 2), NEVER, np.int64),
        common=np.array([(0, 1.0)], SHORT_TERM_COMMON),
    )


def copied(state: State) -> State:
    """A state record with every array copied."""
    return type(state)(*(array.copy() for array in state))


def copied_run(state: RunState) -> RunState:
    """A state with every array of its circuit and plasticities copied."""
    traces = None if state.traces is None else copied(state.traces)
    short_term = None if state.short_term is None else _copied_short_term(state.short_term)
    return state._replace(circuit=copied(state.circuit), short_term=short_term, traces=traces)


def _copied_short_term(state: ShortTermState) -> ShortTermState:
    """A copy; unused slots hold zeros, and their memory is not touched."""
    short = np.zeros(state.short.shape, state.short.dtype)
    short[: state.n_slots] = state.short[: state.n_slots]
    rest = {name: array.copy() for name, array in state._asdict().items() if name != "short"}
    return ShortTermState(short=short, **rest)
