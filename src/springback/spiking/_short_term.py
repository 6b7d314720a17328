"""Short-term STDP: synapses are pulled and spring back (Eqs. 1 to 3; weight dependence: S7, Eq. S101).

    input spike:   trace_j <- trace_j + 1
    output spike:  F_jk <- F_jk + pull * max(0, c + (1 - c) W_jk) * trace_j
    between:       F and the traces decay exponentially;      efficacy G = W + F

With a delay, an output spike pulls only if its neuron has been active for that long.

F decays lazily: a slot stores F / scale, and the decay is one multiplication of the scale. Only neurons that fired
recently have a slot, so an input spike reads as many extra synapses as there are stretched neurons.

The updates at every step and at every input spike are in `_kernel.run_steps`; the rest is here.
"""

import numpy as np

from springback.compiled import njit
from springback.spiking._state import BEGAN, LAST

SMALLEST_SCALE = 1e-18


@njit(inline="always", cache=True, nogil=True)
def decay_synapse(j, s, k, short, stamp, rates, step):  # type: ignore[no-untyped-def]
    """Bring one synapse with its own time constant up to date."""
    idle = step - stamp[s, j]
    if idle > 0:
        short[s, j] *= np.exp(rates[j, k] * short.dtype.type(idle))
        stamp[s, j] = step


@njit(cache=True, inner=True, nogil=True)
def decay_row(j, short, slots, n_slots, stamp, rates, step):  # type: ignore[no-untyped-def]
    """Bring the synapses of input j up to date; does nothing if they have no rates of their own (None)."""
    if rates is not None:
        for s in range(n_slots):
            decay_synapse(j, s, slots[s].neuron, short, stamp, rates, step)


@njit(cache=True, inner=True, nogil=True)
def decay_slot(s, k, short, stamp, rates, step):  # type: ignore[no-untyped-def]
    """Bring the synapses of slot s (neuron k) up to date; does nothing if they have no rates of their own (None)."""
    if rates is not None:
        for j in range(short.shape[1]):
            decay_synapse(j, s, k, short, stamp, rates, step)


@njit(cache=True, inner=True, nogil=True)
def fold_traces(trace, common, negligible):  # type: ignore[no-untyped-def]
    """Write the common scale into the traces; those that are negligible become zero."""
    kind = trace.dtype.type
    scale = kind(common.trace_scale)
    for j in range(trace.shape[0]):
        trace[j] *= scale
        if trace[j] <= negligible:
            trace[j] = kind(0.0)
    common.trace_scale = 1.0


@njit(cache=True, inner=True, nogil=True)
def open_slot(k, step, short, slots, slot_of, stamp, common):  # type: ignore[no-untyped-def]
    """The slot of neuron k; a new one if it has none."""
    kind = short.dtype.type
    if slot_of[k] < 0:
        s = common.n_slots
        common.n_slots = s + 1
        slot_of[k] = s
        new = slots[s]
        new.neuron = k
        new.scale = kind(1.0)
        new.bias = kind(0.0)
        short[s] = kind(0.0)
        if stamp.shape[0] > 0:
            stamp[s] = step
    # A slot that has decayed for long is written out, before dividing by its scale could overflow.
    one = slots[slot_of[k]]
    if one.scale < SMALLEST_SCALE:
        for j in range(short.shape[1]):
            short[slot_of[k], j] *= one.scale
        one.scale = kind(1.0)
    return np.int64(slot_of[k])


@njit(cache=True, inner=True, nogil=True)
def is_due(k, step, activity, delay):  # type: ignore[no-untyped-def]
    """Whether a spike of neuron k pulls its synapses: always without a delay (None)."""
    if delay is None:
        return True
    if step - activity[k, LAST] > delay.pause:
        activity[k, BEGAN] = step
    activity[k, LAST] = step
    return step - activity[k, BEGAN] >= delay.steps


@njit(cache=True, inner=True, nogil=True, error_model="numpy", fastmath={"contract"})
def pull(row, scale, trace, trace_scale, gain, headroom):  # type: ignore[no-untyped-def]
    """A neuron fires: its synapses (`row`, stored as F / scale) are pulled by the traces of their inputs.

    The loop runs over all inputs, not only those that spiked recently, because one contiguous pass is faster.
    """
    unscale = row.dtype.type(1.0 / scale)
    amount = row.dtype.type(trace_scale / scale)
    for j in range(row.shape[0]):
        now, most = row[j] + gain[j] * (trace[j] * amount), headroom[j] * unscale
        row[j] = now if now < most else most


@njit(cache=True, inner=True, nogil=True)
def relax_somas(slots, n_slots, theta, soma):  # type: ignore[no-untyped-def]
    """One step of the somas' excitability, if any: it decays, and lowers the thresholds of the stretched neurons."""
    if soma is not None:
        for s in range(n_slots):
            one = slots[s]
            one.bias *= soma.keep
            theta[one.neuron] = soma.theta[one.neuron] - one.bias


@njit(cache=True, inner=True, nogil=True)
def excite_soma(slots, s, soma):  # type: ignore[no-untyped-def]
    """The neuron of slot s fires: its soma, if it is plastic, becomes more (or less) excitable."""
    if soma is not None:
        slots[s].bias = min(max(slots[s].bias + soma.step, -soma.top), soma.top)


@njit(cache=True, inner=True, nogil=True)
def calm_soma(k, theta, soma):  # type: ignore[no-untyped-def]
    """Neuron k has sprung back: so has its threshold, if its soma is plastic."""
    if soma is not None:
        theta[k] = soma.theta[k]


@njit(cache=True, inner=True, nogil=True)
def is_stretched(row, scale, negligible):  # type: ignore[no-untyped-def]
    """Whether any synapse of a slot is still pulled."""
    found = False
    for j in range(row.shape[0]):
        found |= row[j] * scale > negligible
    return found


@njit(cache=True, inner=True, nogil=True)
def end_frame(short_term, theta, step):  # type: ignore[no-untyped-def]
    """After each frame: drop negligible traces, and release the slots of neurons that have sprung back."""
    stretch, synapse_rates, negligible = short_term.state, short_term.synapse_rates, short_term.constants.negligible
    short, slots, slot_of, stamp = stretch.short, stretch.slots, stretch.slot_of, stretch.stamp
    common = stretch.common[0]
    fold_traces(stretch.trace, common, negligible)
    s = np.int64(0)  # a plain 0 would be a type of its own, for which `decay_slot` would be compiled once more
    while s < common.n_slots:
        one = slots[s]
        decay_slot(s, one.neuron, short, stamp, synapse_rates, step)
        if abs(one.bias) > negligible or is_stretched(short[s], one.scale, negligible):
            s += 1
            continue
        calm_soma(one.neuron, theta, short_term.soma)
        slot_of[one.neuron] = -1
        common.n_slots -= 1
        last = common.n_slots
        # The last slot moves into the gap, so that slots stay contiguous.
        if s < last:
            slots[s] = slots[last]
            slot_of[slots[s].neuron] = s
            for j in range(short.shape[1]):
                short[s, j] = short[last, j]
            for j in range(stamp.shape[1]):
                stamp[s, j] = stamp[last, j]
        short[last] = short.dtype.type(0.0)
