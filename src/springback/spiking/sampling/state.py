"""The weights of the sampling networks, written by long-term learning, and their state, changed by a presentation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

STEP, N_LIT, N_MEMBERS, HEAD, TAIL = range(5)
SCALE, TOTAL = range(2)


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
        (j, s) F of the slot's neuron, divided by level[SCALE].
    member : NDArray[np.int32]
        (s) the neuron of a slot;   slot_of (k) its slot, or -1.
    overlap, stretch : NDArray[np.float64]
        (k) W.F and F.F, of F as stored.
    calls : NDArray[np.float64]
        (k) past output spikes under f, divided by level[SCALE].
    drive, value, bias, weight : NDArray[np.float32]
        (k) scratch.
    level : NDArray[np.float64]
        Float64: the common factor of F; the sum of calls.
    tally : NDArray[np.int64]
        Int64: step, lengths of the lists, ends of the ring.
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
    level: NDArray[np.float64]
    tally: NDArray[np.int64]


def rest(n_inputs: int, n_neurons: int, n_terms: int, window: int) -> SamplingState:
    """A stream before its first frame."""
    return SamplingState(
        trace=np.zeros((n_inputs, n_terms), np.float32),
        trace_scale=np.ones(n_terms),
        epsp=np.zeros(n_inputs, np.float32),
        ring=np.zeros(n_inputs * window, np.int32),
        ring_n=np.zeros(window, np.int64),
        lit=np.zeros(n_inputs, np.int32),
        is_lit=np.zeros(n_inputs, np.bool_),
        seen=np.zeros(n_inputs, np.float32),
        felt=np.zeros(n_inputs, np.float32),
        short=np.zeros((n_inputs, n_neurons), np.float32),
        member=np.zeros(n_neurons, np.int32),
        slot_of=np.full(n_neurons, -1, np.int32),
        overlap=np.zeros(n_neurons),
        stretch=np.zeros(n_neurons),
        calls=np.zeros(n_neurons),
        drive=np.zeros(n_neurons, np.float32),
        value=np.zeros(n_neurons, np.float32),
        bias=np.zeros(n_neurons, np.float32),
        weight=np.zeros(n_neurons, np.float32),
        level=np.array([1.0, 0.0]),
        tally=np.zeros(5, np.int64),
    )
