"""The weights of the sampling networks, written by long-term learning, and their state, changed by a presentation."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

COMMON = np.dtype(
    [*((name, np.int64) for name in ("step", "n_lit", "n_members", "head", "tail")), ("scale", float), ("total", float)]
)
"""What all neurons share: the step, the lengths of the lists, the ends of the ring, scale of F, sum of calls."""


class SamplingWeights(NamedTuple):
    """The result of long-term learning: `resting` float32 (n_inputs, n_neurons), `prior` float64 (n_neurons,)."""

    resting: NDArray[np.float32]
    prior: NDArray[np.float64]


class SamplingState(NamedTuple):
    """The state of a stream; j runs over inputs, k neurons, s slots of stretched neurons, m exponentials.

    Parameters
    ----------
    trace : NDArray[np.float32]
        (j, m) input traces, divided by trace_scale (m).
    epsp : NDArray[np.float32]
        (j) input spikes within the last EPSP.
    ring, ring_n
        Those spikes in order of time, and how many came in each step.
    lit, is_lit
        The inputs that can be seen: list, and mark (j).
    seen, felt : NDArray[np.float32]
        Their estimates for plasticity and membrane, in the order of the list.
    short : NDArray[np.float32]
        (j, s) F of the slot's neuron, divided by common.scale.
    member : NDArray[np.int32]
        (s) the neuron of a slot;   slot_of (k) its slot, or -1.
    overlap, stretch : NDArray[np.float64]
        (k) W.F and F.F, of F as stored.
    calls : NDArray[np.float64]
        (k) past output spikes under f, divided by common.scale.
    drive, value, bias, weight : NDArray[np.float32]
        (k) scratch.
    common : NDArray[np.void]
        (1,) record, see `COMMON`.
    """

    trace: NDArray[np.float32]
    trace_scale: NDArray[np.float64]
    epsp: NDArray[np.float32]
    ring: NDArray[np.int32]
    ring_n: NDArray[np.int64]
    lit: NDArray[np.int32]
    is_lit: NDArray[np.bool_]
    seen: NDArray[np.float32]
    felt: NDArray[np.float32]
    short: NDArray[np.float32]
    member: NDArray[np.int32]
    slot_of: NDArray[np.int32]
    overlap: NDArray[np.float64]
    stretch: NDArray[np.float64]
    calls: NDArray[np.float64]
    drive: NDArray[np.float32]
    value: NDArray[np.float32]
    bias: NDArray[np.float32]
    weight: NDArray[np.float32]
    common: NDArray[np.void]


def rest(n_inputs: int, n_neurons: int, n_terms: int, window: int) -> SamplingState:
    """A stream before its first frame."""
    arrays: dict[str, Any] = {name: np.zeros(n_inputs, np.float32) for name in ("epsp", "seen", "felt")}
    arrays |= {name: np.zeros(n_neurons) for name in ("overlap", "stretch", "calls")}
    arrays |= {name: np.zeros(n_neurons, np.float32) for name in ("drive", "value", "bias", "weight")}
    return SamplingState(
        trace=np.zeros((n_inputs, n_terms), np.float32),
        trace_scale=np.ones(n_terms),
        ring=np.zeros(n_inputs * window, np.int32),
        ring_n=np.zeros(window, np.int64),
        lit=np.zeros(n_inputs, np.int32),
        is_lit=np.zeros(n_inputs, np.bool_),
        short=np.zeros((n_inputs, n_neurons), np.float32),
        member=np.zeros(n_neurons, np.int32),
        slot_of=np.full(n_neurons, -1, np.int32),
        common=np.array([(0, 0, 0, 0, 0, 1.0, 0.0)], COMMON),
        **arrays,
    )
