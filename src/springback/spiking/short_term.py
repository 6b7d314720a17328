"""Short-term STDP: synapses are pulled and spring back (Eq. 1-3; supplement, "Weight-dependent ST-STDP").

    input spike:   trace_j <- trace_j + 1
    output spike:  F_jk <- F_jk + pull * max(0, c + (1 - c) W_jk) * trace_j
    between:       F and the traces decay exponentially;      efficacy G = W + F

F decays lazily: a slot stores F / scale, and the decay is one multiplication of the scale. Only neurons that fired
lately have a slot, so an input spike reads as many extra synapses as there are stretched neurons.

What happens at every input spike and every step stands in `kernel.run_steps` itself; here is the rest.
"""

import numpy as np
from numba import njit

from springback.spiking.state import N_LIT, N_SLOTS, TRACE_SCALE

SMALLEST_SCALE = 1e-18


@njit(inline="always", cache=True, nogil=True)
def decay_synapse(j, s, k, short, stamp, rates, step):  # type: ignore[no-untyped-def]
    """Bring one synapse with its own time constant up to date."""
    idle = step - stamp[j, s]
    if idle > 0:
        short[j, s] *= np.exp(rates[j, k] * short.dtype.type(idle))
        stamp[j, s] = step


@njit(cache=True, nogil=True)
def decay_row(j, short, slots, n_slots, stamp, rates, step):  # type: ignore[no-untyped-def]
    """Bring the synapses of input j up to date."""
    for s in range(n_slots):
        decay_synapse(j, s, slots[s].neuron, short, stamp, rates, step)


@njit(cache=True, nogil=True)
def prune_traces(trace, lit, level, count, negligible):  # type: ignore[no-untyped-def]
    """Write the common scale into the traces and drop those that are negligible."""
    kept = 0
    for i in range(count[N_LIT]):
        j = lit[i]
        trace[j] *= level[TRACE_SCALE]
        if trace[j] > negligible:
            lit[kept] = j
            kept += 1
        else:
            trace[j] = 0.0
    count[N_LIT] = kept
    level[TRACE_SCALE] = 1.0


@njit(cache=True, nogil=True)
def open_slot(k, step, short, slots, slot_of, stamp, count):  # type: ignore[no-untyped-def]
    """The slot of neuron k, a fresh one if it has none."""
    kind = short.dtype.type
    if slot_of[k] < 0:
        s = count[N_SLOTS]
        count[N_SLOTS] = s + 1
        slot_of[k] = s
        new = slots[s]
        new.neuron = k
        new.scale = kind(1.0)
        new.top = kind(0.0)
        new.bias = kind(0.0)
        short[:, s] = kind(0.0)
        if stamp.shape[0] > 0:
            stamp[:, s] = step
    one = slots[slot_of[k]]
    if one.scale < SMALLEST_SCALE:
        for j in range(short.shape[0]):
            short[j, slot_of[k]] *= one.scale
        one.top *= one.scale
        one.scale = kind(1.0)
    return slot_of[k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def pull(s, short, slots, trace, trace_scale, lit, n_lit, gain, headroom):  # type: ignore[no-untyped-def]
    """The neuron of slot s fires: its synapses from inputs that spiked lately are pulled."""
    kind = short.dtype.type
    one = slots[s]
    scale, factor = one.scale, kind(trace_scale)
    unscale = kind(1.0) / scale
    top = one.top
    for i in range(n_lit):
        j = lit[i]
        now = min(short[j, s] * scale + gain[j] * (trace[j] * factor), headroom[j]) * unscale
        short[j, s] = now
        top = max(top, now)
    one.top = top


@njit(inline="always", cache=True, nogil=True)
def excite(slots, n_slots, theta, intrinsic):  # type: ignore[no-untyped-def]
    """One step of the somas' short-term excitability: it decays and lowers the thresholds of the stretched neurons."""
    for s in range(n_slots):
        one = slots[s]
        one.bias *= intrinsic.keep
        theta[one.neuron] = intrinsic.theta[one.neuron] - one.bias


@njit(cache=True, nogil=True)
def end_frame(stretch, synapse_rates, negligible, step):  # type: ignore[no-untyped-def]
    """After each frame: drop negligible traces, give back the slots of neurons that have sprung back."""
    prune_traces(stretch.trace, stretch.lit, stretch.level, stretch.tally, negligible)
    short, slots, slot_of, stamp, count = stretch.short, stretch.slots, stretch.slot_of, stretch.stamp, stretch.tally
    s = 0
    while s < count[N_SLOTS]:
        one = slots[s]
        stretched = one.bias > negligible or one.scale * one.top > negligible
        if synapse_rates is not None:
            top = short.dtype.type(0.0)
            for j in range(short.shape[0]):
                decay_synapse(j, s, one.neuron, short, stamp, synapse_rates, step)
                top = max(top, short[j, s])
            one.top = top
        if stretched:
            s += 1
            continue
        slot_of[one.neuron] = -1
        count[N_SLOTS] -= 1
        last = count[N_SLOTS]
        if s < last:
            slots[s] = slots[last]
            slot_of[slots[s].neuron] = s
            short[:, s] = short[:, last]
            if stamp.shape[0] > 0:
                stamp[:, s] = stamp[:, last]
