"""What the compiled loops write down for a recorder: spikes, and samples of the quantities that are watched.

A monitor is one row of a plan: which quantity, of which neurons and inputs, and when it is next due. There are three
plans. Potentials, which are often sampled in every step, are sampled inside `_kernel.run_steps`, because handing the
arrays to a function would cost more than the samples. The other plans are those of neurons and of synapses and traces:
for them `_present.run_stretch` leaves the kernel in the steps in which they are due.
Sampling reads the state and never changes it, so a recorded run has the same spikes, bit for bit, as any other.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.spiking._membrane import relaxed_partner

POTENTIAL, EXCITATION, INHIBITION_FELT, THRESHOLD, PARTNER_POTENTIAL, PARTNER_CONDUCTANCE = range(6)
PRE_TRACE, POST_TRACE_1, POST_TRACE_2, INPUT_TRACE, RESTING, SHORT_TERM, EFFICACY = range(10, 17)

NEVER_DUE = 1 << 62
BLOCK = 8
"""Steps for which an empty buffer always has room; a pause is run in blocks of this length."""


def whole_numbers(names: str) -> np.dtype[np.void]:
    """The dtype of a record of whole numbers with these names."""
    return np.dtype([(name, np.int64) for name in names.split()])


PLAN = whole_numbers(
    "quantity neurons n_neurons inputs n_inputs times times_end every next values size samples capacity filled"
)
"""A monitor; `neurons`, `inputs`, `times`, `values` and `samples` are where its part of each flat array begins."""

TALLY = whole_numbers("n_out n_partner n_in n_shown due_neurons due_synapses")
"""Numbers of spikes and presentations in the buffers; when a monitor of neurons, and one of synapses, is next due."""


class Watch(NamedTuple):
    """The buffers of a recorder, as the compiled loops take them.

    Parameters
    ----------
    potentials, neurons, synapses : NDArray[np.void]
        The monitors of the three plans, see `PLAN`.
    chosen : NDArray[np.int32]
        The neurons and inputs of all monitors.
    times : NDArray[np.int64]
        The chosen steps of monitors that have any.
    values, when
        The samples of all monitors, and their steps.
    out_index, out_step, partner_index, partner_step, in_index, in_step
        Spikes of the neurons, of their inhibitory partners and of the inputs; empty if they are not wanted.
    shown : NDArray[np.int64]
        (n, 3) frame, attempt and first step of each presentation.
    tally : NDArray[np.void]
        (1,) record, see `TALLY`.
    """

    potentials: NDArray[np.void]
    neurons: NDArray[np.void]
    synapses: NDArray[np.void]
    chosen: NDArray[np.int32]
    times: NDArray[np.int64]
    values: NDArray[Any]
    when: NDArray[np.int64]
    out_index: NDArray[np.int32]
    out_step: NDArray[np.int64]
    partner_index: NDArray[np.int32]
    partner_step: NDArray[np.int64]
    in_index: NDArray[np.int32]
    in_step: NDArray[np.int64]
    shown: NDArray[np.int64]
    tally: NDArray[np.void]

    @property
    def monitors(self) -> "Watch | None":
        """The watch itself, or None if it has no monitors, so that what samples them is not compiled."""
        return self if len(self.potentials) + len(self.neurons) + len(self.synapses) > 0 else None


@njit(cache=True, nogil=True)
def room_steps(watch, n_neurons):  # type: ignore[no-untyped-def]
    """For how many steps the buffers have room, even if every neuron fires in each of them."""
    room = np.int64(1 << 40)
    for index, n in ((watch.out_index, watch.tally[0].n_out), (watch.partner_index, watch.tally[0].n_partner)):
        if index.shape[0] > 0:
            room = min(room, (index.shape[0] - n) // n_neurons)
    for plan in (watch.potentials, watch.neurons, watch.synapses):
        for m in range(plan.shape[0]):
            one = plan[m]
            free = one.capacity - one.filled
            room = min(room, free if one.every == 0 else free * one.every)
    return room


@njit(inline="always", cache=True, nogil=True)
def take_place(one, times, when, step):  # type: ignore[no-untyped-def]
    """Where the next sample of a monitor goes, after noting its step and when it is next due."""
    at = one.filled
    when[one.samples + at] = step
    one.filled = at + 1
    if one.every > 0:
        one.next += one.every
    else:
        one.times += 1
        one.next = times[one.times] if one.times < one.times_end else NEVER_DUE
    return one.values + at * one.size


@njit(inline="always", cache=True, nogil=True)
def earliest(plan):  # type: ignore[no-untyped-def]
    """The step in which a monitor of a group is next due."""
    due = np.int64(NEVER_DUE)
    for m in range(plan.shape[0]):
        due = min(due, plan[m].next)
    return due


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def sample_neurons(watch, state, constants, step, keep_theta):  # type: ignore[no-untyped-def]
    """Sample the monitors of neurons that are due, after `step`, up to which all is quiet since the given state."""
    plan, chosen, values = watch.neurons, watch.chosen, watch.values
    recent, place, common = state.recent, state.place, state.common[0]
    kind, ahead = state.v.dtype.type, step + 1 - common.step
    for m in range(plan.shape[0]):
        one = plan[m]
        if one.next > step:
            continue
        at, first = take_place(one, watch.times, watch.when, step), one.neurons
        for i in range(one.n_neurons):
            k = chosen[first + i]
            r = place[k]
            value = kind(0.0)
            if one.quantity == EXCITATION:
                value = state.ge[k] if ahead == 0 else value
            elif one.quantity == INHIBITION_FELT:
                value = max(kind(common.inhibition) - (recent[r].own if r >= 0 else kind(0.0)), value)
            elif one.quantity == THRESHOLD:
                value = kind(common.theta_scale * keep_theta**ahead) * state.theta[k] + constants.offset_e
            elif one.quantity == PARTNER_POTENTIAL and r < 0:
                value = relaxed_partner(k, state.inh_v, step - state.inh_step[k], constants)
            elif r >= 0:
                value = recent[r].partner_v if one.quantity == PARTNER_POTENTIAL else recent[r].partner_ge
            values[at + i] = value
    watch.tally[0].due_neurons = earliest(plan)


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def sample_synapses(watch, resting, long_term, short_term, step):  # type: ignore[no-untyped-def]
    """Sample the monitors of traces and synapses that are due, after `step`; synapses (inputs, neurons)."""
    plan, values = watch.synapses, watch.values
    kind = resting.dtype.type
    for m in range(plan.shape[0]):
        one = plan[m]
        if one.next > step:
            continue
        at = take_place(one, watch.times, watch.when, step)
        mine = watch.chosen[one.neurons : one.neurons + one.n_neurons]
        inputs = watch.chosen[one.inputs : one.inputs + one.n_inputs]
        if one.quantity <= POST_TRACE_2:
            if long_term is not None:
                stdp, traces = long_term.constants, long_term.state
                if one.quantity == PRE_TRACE:
                    copy_traces(values, at, inputs, traces.last_pre, stdp.decay_pre, step)
                elif one.quantity == POST_TRACE_1:
                    copy_traces(values, at, mine, traces.last_post, stdp.decay_post_1, step)
                else:
                    copy_traces(values, at, mine, traces.last_post, stdp.decay_post_2, step)
        elif one.quantity == INPUT_TRACE:
            if short_term is not None:
                scale = kind(short_term.state.common[0].trace_scale)
                for i in range(inputs.shape[0]):
                    values[at + i] = short_term.state.trace[inputs[i]] * scale
        else:
            width = mine.shape[0]
            for i in range(inputs.shape[0]):
                for c in range(width):
                    values[at + i * width + c] = (
                        kind(0.0) if one.quantity == SHORT_TERM else resting[inputs[i], mine[c]]
                    )
            if one.quantity != RESTING:
                add_short_term(values, at, inputs, mine, short_term, step)
    watch.tally[0].due_synapses = earliest(plan)


@njit(cache=True, inner=True, nogil=True)
def copy_traces(values, at, chosen, last, table, step):  # type: ignore[no-untyped-def]
    """The traces of long-term STDP: tables of the time since the last spike."""
    for i in range(chosen.shape[0]):
        values[at + i] = table[min(step - last[chosen[i]], table.shape[0] - 1)]


@njit(cache=True, inner=True, nogil=True)
def share_left(rates, stamp, s, j, k, step):  # type: ignore[no-untyped-def]
    """The share of F that is left since it was last decayed; 1 if synapses have no rates of their own (None)."""
    left = 1.0
    if rates is not None:
        left = np.exp(rates[j, k] * (step - stamp[s, j]))
    return left


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def add_short_term(values, at, inputs, mine, short_term, step):  # type: ignore[no-untyped-def]
    """Add F of the chosen synapses; F that decays with a time constant of its own is brought up to date in passing."""
    if short_term is not None:
        stretch, rates, width = short_term.state, short_term.synapse_rates, mine.shape[0]
        for c in range(width):
            k = mine[c]
            s = stretch.slot_of[k]
            if s < 0 or s >= stretch.common[0].n_slots:
                continue
            scale = stretch.slots[s].scale
            for i in range(inputs.shape[0]):
                left = share_left(rates, stretch.stamp, s, inputs[i], k, step)
                values[at + i * width + c] += stretch.short[s, inputs[i]] * scale * left


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def sample_quiet(  # type: ignore[no-untyped-def]
    watch, resting, state, long_term, constants, first, n_steps, keep_theta
):
    """Sample what is due within `n_steps` of a pause in which only the leak acts, before the pause is jumped over.

    `first` steps of the pause have been sampled already; the state is still that of its beginning.
    """
    start, tally = state.common[0].step, watch.tally[0]
    v, chosen, times, values, when = state.v, watch.chosen, watch.times, watch.values, watch.when
    keep, end = 1.0 / (1.0 + constants.leak_e), start + first + n_steps
    for m in range(watch.potentials.shape[0]):
        one = watch.potentials[m]
        n, mine, now, left, rest = one.n_neurons, one.neurons, start - 1, 1.0, constants.rest_e
        keep_interval = keep**one.every
        while one.next < end:
            left *= keep_interval if one.next - now == one.every else keep ** (one.next - now)
            now = one.next
            at, shrink = take_place(one, times, when, now), v.dtype.type(left)
            for i in range(n):
                values[at + i] = rest + (v[chosen[mine + i]] - rest) * shrink
    while tally.due_neurons < end:
        now = max(tally.due_neurons, start + first)
        sample_neurons(watch, state, constants, now, keep_theta)
    while tally.due_synapses < end:
        sample_synapses(watch, resting, long_term, None, max(tally.due_synapses, start + first))


@njit(cache=True, inner=True, nogil=True)
def is_full(watch, n_in_most):  # type: ignore[no-untyped-def]
    """Whether there is no room to note another presentation, or its input spikes if they are wanted."""
    no_inputs = 0 < watch.in_index.shape[0] < watch.tally[0].n_in + n_in_most
    return no_inputs or watch.tally[0].n_shown >= watch.shown.shape[0]


@njit(cache=True, inner=True, nogil=True)
def note_presentation(watch, train, n_in, n_show, frame, attempt, step):  # type: ignore[no-untyped-def]
    """Write down that a presentation begins, and its input spikes if they are wanted."""
    tally = watch.tally[0]
    at = tally.n_shown
    watch.shown[at, 0], watch.shown[at, 1], watch.shown[at, 2] = frame, attempt, step
    tally.n_shown = at + 1
    if watch.in_index.shape[0] > 0:
        place = tally.n_in
        for t in range(n_show):
            for i in range(train.first[t], train.first[t + 1]):
                watch.in_index[place + i], watch.in_step[place + i] = train.which[i], step + t
        tally.n_in = place + n_in
