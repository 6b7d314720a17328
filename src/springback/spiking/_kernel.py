"""The compiled kernel: one stretch of time steps of the whole circuit, driven by given input spikes.

One step, in this order: everything decays; potentials advance with the conductances as they are; thresholds; the spikes
of this step arrive, inputs with their plasticity first, then the plasticity of the neurons that fired; resets.

A plasticity that is None is absent, and pruned when compiling: train = (long_term, None), adapt = (None, short_term),
static = (None, None). So is a watch that is None: then nothing is recorded; and monitors that are None: then only
spikes are. Tuples are unpacked before the loop over time.
"""

from springback.compiled import njit
from springback.spiking import _long_term as learn
from springback.spiking import _membrane as membrane
from springback.spiking import _short_term as adapt
from springback.spiking._long_term import SMALLEST_THETA_SCALE
from springback.spiking._short_term import SMALLEST_SCALE
from springback.spiking._watch import NEVER_DUE


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def run_steps(  # type: ignore[no-untyped-def]
    constants, resting, state, inputs, n_steps, counts, keep_theta, long_term, short_term, watch, monitors
):
    """Run `n_steps`; adds each neuron's spikes to `counts` and returns how many there were in all.

    Parameters
    ----------
    constants, resting, state
        `CircuitConstants`, the weights (n_inputs, n_neurons), and `CircuitState`.
    inputs
        `SpikeTrain`.
    keep_theta
        The factor by which theta decays per step of long-term STDP.
    long_term, short_term
        `LongTerm` and `ShortTerm`; each may be None.
    watch, monitors
        `Watch`, where spikes are written down; and once more, if it also has monitors, or None. Each may be None.
    """
    # Unpack, once for all steps.
    kind = state.v.dtype.type
    index, first = inputs.which, inputs.first
    v, ge, theta, firing, common = state.v, state.ge, state.theta, state.firing, state.common[0]
    recent, place, inh_v, inh_step = state.recent, state.place, state.inh_v, state.inh_step
    if long_term is not None:
        stdp, traces = long_term.constants, long_term.state
        last_pre, touched, is_touched = traces.last_pre, traces.touched, traces.is_touched
        last_post, fired, is_fired, loss = traces.last_post, traces.fired, traces.is_fired, traces.loss
        listed, table_pre = traces.common[0], stdp.decay_pre
        table_post_1, table_post_2 = stdp.decay_post_1, stdp.decay_post_2
        last_entry = table_post_1.shape[0] - 1
    if short_term is not None:
        pulling, stretch = short_term.constants, short_term.state
        synapse_rates, soma, delay = short_term.synapse_rates, short_term.soma, short_term.delay
        keep_trace, activity, has_soma = pulling.keep_trace, stretch.activity, soma is not None
        trace, short, slots = stretch.trace, stretch.short, stretch.slots
        slot_of, stamp, stretched = stretch.slot_of, stretch.stamp, stretch.common[0]
        gain, headroom, keep_short = pulling.gain, pulling.headroom, pulling.keep
    if watch is not None:
        seen, out_index, out_step = watch.tally[0], watch.out_index, watch.out_step
        partner_index, partner_step = watch.partner_index, watch.partner_step
        n_most, n_most_partners = out_index.shape[0], partner_index.shape[0]
    if monitors is not None:
        potentials, chosen, times, values, when = (
            monitors.potentials,
            monitors.chosen,
            monitors.times,
            monitors.values,
            monitors.when,
        )
    total = 0
    for t in range(n_steps):
        step = common.step

        # Decay: thresholds, what an input spike costs now, input traces, plastic somas.
        if long_term is not None:
            common.theta_scale *= keep_theta
            if common.theta_scale < SMALLEST_THETA_SCALE:
                learn.fold_theta(theta, common)
            for f in range(listed.n_fired):
                loss[f] = stdp.rate_pre * table_post_1[min(step - last_post[fired[f]], last_entry)]
        if short_term is not None:
            stretched.trace_scale *= keep_trace
            if stretched.trace_scale < SMALLEST_SCALE:
                adapt.fold_traces(trace, stretched, kind(0.0))
            adapt.relax_somas(slots, stretched.n_slots, theta, soma)
        gi, scale = kind(common.inhibition), kind(common.theta_scale)

        # Membranes: all neurons in one pass, which also adds the weights of this step's input spikes; then those that
        # fired recently once more, with what only they have: a refractory time, and a partner that spares them.
        membrane.remember_recent(v, ge, recent, common.n_recent)
        above = membrane.advance_all(v, ge, theta, gi, scale, constants, resting, index, first[t], first[t + 1])
        also, n_partners = membrane.advance_recent(v, theta, recent, common.n_recent, firing, gi, scale, constants)
        common.inhibition = common.inhibition * constants.keep_gi + n_partners * constants.from_inh
        if common.inhibition < constants.negligible:
            common.inhibition = 0.0
        if watch is not None and n_most_partners > 0:
            for i in range(n_partners):
                partner_index[seen.n_partner] = firing[i]
                partner_step[seen.n_partner] = step
                seen.n_partner += 1

        # Which neurons fire. The list is made only if some neuron is above its threshold.
        n_firing = 0
        if above or also > 0:
            for k in range(v.shape[0]):
                if v[k] > scale * theta[k] + constants.offset_e and (place[k] < 0 or recent[place[k]].wait == 0):
                    firing[n_firing] = k
                    n_firing += 1

        # Input spikes: depression of long-term STDP, traces, and F, which only stretched neurons have.
        one_trace = kind(0.0)
        if short_term is not None and first[t] < first[t + 1]:
            one_trace = kind(1.0 / stretched.trace_scale)
        for i in range(first[t], first[t + 1]):
            j = index[i]
            if long_term is not None:
                for f in range(listed.n_fired):
                    resting[j, fired[f]] = max(resting[j, fired[f]] - loss[f], kind(0.0))
                last_pre[j] = step
                if not is_touched[j]:
                    is_touched[j] = True
                    touched[listed.n_touched] = j
                    listed.n_touched += 1
            if short_term is not None:
                adapt.decay_row(j, short, slots, stretched.n_slots, stamp, synapse_rates, step)
                trace[j] += one_trace
        if short_term is not None:
            for s in range(stretched.n_slots):
                slots[s].scale *= keep_short[slots[s].neuron]
                arrived = kind(0.0)
                for i in range(first[t], first[t + 1]):
                    arrived += short[s, index[i]]
                ge[slots[s].neuron] += slots[s].scale * arrived

        # Output spikes: potentiation and threshold, or the pull; then the reset.
        for i in range(n_firing):
            k = firing[i]
            if long_term is not None:
                grown = stdp.rate_post * table_post_2[min(step - last_post[k], table_post_2.shape[0] - 1)]
                if grown > 0.0:
                    for f in range(listed.n_touched):
                        j = touched[f]
                        more = grown * table_pre[min(step - last_pre[j], table_pre.shape[0] - 1)]
                        resting[j, k] = min(resting[j, k] + more, stdp.weight_max)
                last_post[k] = step
                if not is_fired[k]:
                    is_fired[k] = True
                    fired[listed.n_fired] = k
                    listed.n_fired += 1
                theta[k] += stdp.theta_step / scale
            if short_term is not None:
                due = adapt.is_due(k, step, activity, delay)
                if due or has_soma:
                    s = adapt.open_slot(k, step, short, slots, slot_of, stamp, stretched)
                    adapt.decay_slot(s, k, short, stamp, synapse_rates, step)
                    if due:
                        adapt.pull(short[s], slots[s].scale, trace, stretched.trace_scale, gain[k], headroom[k])
                    adapt.excite_soma(slots, s, soma)
            membrane.fire(k, v, recent, place, inh_v, inh_step, common, constants)
            counts[k] += 1
            if watch is not None and n_most > 0:
                out_index[seen.n_out] = k
                out_step[seen.n_out] = step
                seen.n_out += 1
        total += n_firing
        membrane.release_recent(recent, place, inh_v, inh_step, common, constants)

        # Potentials are sampled here and not in a function, because handing over the arrays would cost more.
        if monitors is not None:
            for m in range(potentials.shape[0]):
                one = potentials[m]
                if step >= one.next:
                    n, at, mine = one.size, one.values + one.filled * one.size, one.neurons
                    when[one.samples + one.filled] = step
                    for i in range(n):
                        values[at + i] = v[chosen[mine + i]]
                    one.filled += 1
                    one.next = step + one.every
                    if one.every == 0:
                        one.times += 1
                        one.next = times[one.times] if one.times < one.times_end else NEVER_DUE
        common.step = step + 1
    return total
