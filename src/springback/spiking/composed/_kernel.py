"""The compiled kernel of composed circuits: a stretch of time steps, driven by given input spikes.

One step, in the order of the paper's kernel: everything decays; potentials advance with the conductances as they are;
thresholds; input spikes arrive, with their plasticity; the neurons that fire change their synapses and are reset.

Every part that may be absent is an argument of its own. None is pruned when compiling, so each combination of parts is
a kernel of its own, without a flag in its loop.
"""

import numpy as np
from numpy.typing import NDArray

from springback.compiled import njit
from springback.spiking._random import GOLDEN, mix
from springback.spiking.composed._prepare import ACCUMULATES, INHIBITORY, INPUTS, MULTIPLIES, UPDATES

_SMALLEST_SCALE = 1e-60
_NOTHING = 1e-30
_UNIT = 1.0 / 9007199254740992.0


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def fold(short, scale, k):  # type: ignore[no-untyped-def]
    """Write the scale of neuron k into its F; values that have decayed become zero."""
    for j in range(short.shape[0]):
        short[j, k] *= scale[k]
        if short[j, k] < _NOTHING:
            short[j, k] = 0.0
    scale[k] = 1.0


@njit(cache=True, inner=True, nogil=True)
def is_due(k, step, short_term):  # type: ignore[no-untyped-def]
    """Whether a spike of neuron k pulls its synapses: always without a delay."""
    began, fired = short_term.began, short_term.fired
    if began.size == 0:
        return True
    if step - fired[k] > short_term.pause:
        began[k] = step
    fired[k] = step
    return step - began[k] >= short_term.delay


def normalise(weights: NDArray[np.float64], total: float) -> None:
    """Scale the weights of each neuron to a common sum; a neuron without weights stays without."""
    sums = weights.sum(axis=0)
    weights *= total / np.where(sums > 0, sums, total)


@njit(cache=True, makes_arrays=True, nogil=True, error_model="numpy")
def run_steps(  # type: ignore[no-untyped-def]
    membrane, weights, stretch, log, escape, adaptation, partners, pool, division, stdp, slow, short_term, release
):
    """Run a stretch of a spike train.

    Parameters
    ----------
    membrane, weights, stretch, log
        `Membrane`, (n_inputs, n_neurons), `Stretch`, `Log`.
    escape ... release
        The `KernelParts` in their order; each may be None. They are arguments of their own because only an argument
        that is None is pruned.
    """
    # Unpack, once for all steps.
    which, first, begin, n_steps, frame_steps, first_step = stretch
    samples, operations, fan_out = log.samples, log.operations, log.fan_out
    v, ge, theta, wait = membrane.v, membrane.ge, membrane.theta, membrane.wait
    inhibition, activity = membrane.inhibition, membrane.activity
    leak, rest, rev_exc, rev_inh = membrane.leak, membrane.rest, membrane.rev_exc, membrane.rev_inh
    offset, keep_ge = membrane.threshold, membrane.keep_ge
    n_inputs, n_neurons = weights.shape
    firing = np.zeros(n_neurons, np.int64)
    if partners is not None:
        partner_v, partner_ge, partner_wait, own = partners.v, partners.ge, partners.wait, partners.own
    if stdp is not None:
        pre, post = stdp.pre, stdp.post
    if slow is not None:
        slow_pre, slow_post = slow.pre, slow.post
    if short_term is not None:
        trace, short, scale, keep_short = short_term.trace, short_term.short, short_term.scale, short_term.keep
        c = short_term.weight_dependence
    if release is not None:
        u, x, last = release.u, release.x, release.last
    for t in range(begin, begin + n_steps):
        step = first_step + t
        frame = t // frame_steps

        # Decay: thresholds, traces, and the scale of F.
        if adaptation is not None:
            for k in range(n_neurons):
                theta[k] *= adaptation.keep
        if stdp is not None:
            for j in range(n_inputs):
                pre[j] *= stdp.keep_pre
            for k in range(n_neurons):
                post[k] *= stdp.keep_post
        if slow is not None:
            for j in range(n_inputs):
                slow_pre[j] *= slow.keep_pre
            for k in range(n_neurons):
                slow_post[k] *= slow.keep_post
        if short_term is not None:
            for j in range(n_inputs):
                trace[j] *= short_term.keep_trace
            for k in range(n_neurons):
                scale[k] *= keep_short[k]
                if scale[k] < _SMALLEST_SCALE:
                    fold(short, scale, k)

        # Membranes advance with the conductances as they are.
        gi, gain = inhibition[0], 1.0
        if division is not None:
            gain = 1.0 / (1.0 + activity[0] * division.inverse_half)
            activity[0] *= division.keep
        above = False
        for k in range(n_neurons):
            felt, g = gi, gain * ge[k]
            if partners is not None:
                felt = gi - own[k] if gi > own[k] else 0.0
            now = (v[k] + leak * (rest + g * rev_exc + felt * rev_inh)) / (1.0 + leak * (1.0 + g + felt))
            v[k] = now if wait[k] == 0 else v[k]
            ge[k] *= keep_ge
            above |= now > offset + theta[k]

        # Which neurons fire: at random, or above their threshold.
        n_firing = 0
        if escape is not None:
            for k in range(n_neurons):
                expected = escape.per_step * np.exp((v[k] - offset - theta[k]) * escape.inverse_width)
                bits = mix(escape.key + np.uint64(step * n_neurons + k + 1) * GOLDEN)
                if wait[k] == 0 and (bits >> np.uint64(11)) * _UNIT < 1.0 - np.exp(-expected):
                    firing[n_firing] = k
                    n_firing += 1
        elif above:
            for k in range(n_neurons):
                if wait[k] == 0 and v[k] > offset + theta[k]:
                    firing[n_firing] = k
                    n_firing += 1
        for k in range(n_neurons):
            wait[k] = wait[k] - 1 if wait[k] > 0 else 0

        # Partners advance, all of them at every step (the paper's own kernel computes only those excited recently). One
        # that fires inhibits all others from the next step on; `own` is what it adds to the common inhibition.
        if partners is not None:
            partner_above = False
            for k in range(n_neurons):
                own[k] *= partners.keep_gi
                drive, load = partners.rest + partner_ge[k] * partners.rev_exc, 1.0 + partner_ge[k]
                if partners.exact:
                    now = drive / load + (partner_v[k] - drive / load) * np.exp(-partners.leak * load)
                else:
                    now = (partner_v[k] + partners.leak * drive) / (1.0 + partners.leak * load)
                partner_v[k] = now if partner_wait[k] == 0 else partner_v[k]
                partner_ge[k] *= partners.keep_ge
                partner_above |= now > partners.threshold
            n_partners = 0
            for k in range(n_neurons):
                if partner_above and partner_wait[k] == 0 and partner_v[k] > partners.threshold:
                    partner_v[k] = partners.reset
                    partner_wait[k] = partners.silent + 1
                    own[k] += partners.weight_from
                    n_partners += 1
                partner_wait[k] = partner_wait[k] - 1 if partner_wait[k] > 0 else 0
            inhibition[0] = gi * partners.keep_gi + n_partners * partners.weight_from
            operations[frame, INHIBITORY] += n_partners
            operations[frame, ACCUMULATES] += n_partners * (n_neurons - 1)
        if pool is not None:
            inhibition[0] = gi * pool.keep

        # Input spikes arrive: what is released, what it adds to the conductances, depression by long-term plasticity.
        for i in range(first[t], first[t + 1]):
            j = which[i]
            amount = 1.0
            if release is not None:
                idle = step - last[j]
                recovered = 1.0 - (1.0 - x[j]) * np.exp(-idle * release.rate_recovery)
                facilitated = release.carry * u[j] * np.exp(-idle * release.rate_facilitation)
                u[j] = facilitated + release.release * (1.0 - facilitated)
                amount = u[j] * recovered
                x[j] = recovered - amount
                last[j] = step
            n_effective = 0
            if short_term is not None:
                for k in range(n_neurons):
                    efficacy = weights[j, k] + short[j, k] * scale[k]
                    n_effective += efficacy != 0.0
                    ge[k] += amount * efficacy
                trace[j] += 1.0
            else:
                for k in range(n_neurons):
                    ge[k] += amount * weights[j, k]
                n_effective += fan_out[j]
            if stdp is not None:
                lost = stdp.minus
                if slow is not None:
                    lost += slow.minus * slow_pre[j]
                    slow_pre[j] = slow_pre[j] * stdp.carry + 1.0
                n_linked = 0
                for k in range(n_neurons):
                    weights[j, k] = max(weights[j, k] - lost * post[k], 0.0)
                    n_linked += weights[j, k] != 0.0
                fan_out[j] = n_linked
                pre[j] = pre[j] * stdp.carry + 1.0
                operations[frame, UPDATES] += n_neurons
            if release is not None:
                operations[frame, MULTIPLIES] += n_effective
            else:
                operations[frame, ACCUMULATES] += n_effective
            operations[frame, INPUTS] += 1

        # Output spikes: potentiation, pull, threshold, inhibition; then the reset.
        for i in range(n_firing):
            k = firing[i]
            if stdp is not None:
                gained = stdp.plus
                if slow is not None:
                    gained += slow.plus * slow_post[k]
                    slow_post[k] = slow_post[k] * stdp.carry + 1.0
                for j in range(n_inputs):
                    before = weights[j, k]
                    weights[j, k] = min(before + gained * pre[j], stdp.weight_max)
                    fan_out[j] += (weights[j, k] != 0.0) - (before != 0.0)
                post[k] = post[k] * stdp.carry + 1.0
                operations[frame, UPDATES] += n_inputs
            if short_term is not None and is_due(k, step, short_term):
                for j in range(n_inputs):
                    w = weights[j, k]
                    pulled = short[j, k] + short_term.pull * max(0.0, c + (1.0 - c) * w) * trace[j] / scale[k]
                    short[j, k] = min(pulled, max(short_term.efficacy_max - w, 0.0) / scale[k])
                operations[frame, UPDATES] += n_inputs
            if adaptation is not None:
                theta[k] += adaptation.step
            if partners is not None:
                partner_ge[k] += partners.weight_to
                operations[frame, ACCUMULATES] += 1
            if pool is not None:
                inhibition[0] += pool.weight
                operations[frame, ACCUMULATES] += n_neurons
            if division is not None:
                activity[0] += division.step
                operations[frame, ACCUMULATES] += 1
            v[k] = membrane.reset
            wait[k] = membrane.silent
            log.counts[frame, k] += 1
            log.which[log.length[0]] = k
            log.step[log.length[0]] = t
            log.length[0] += 1

        # Samples of chosen neurons.
        if t % samples.every == 0:
            row = t // samples.every
            for i in range(samples.neurons.shape[0]):
                k = samples.neurons[i]
                samples.potential[row, i] = v[k]
                samples.threshold[row, i] = offset + theta[k]
                samples.excitation[row, i] = ge[k]
                samples.inhibition[row, i] = inhibition[0]
                if partners is not None:
                    samples.inhibition[row, i] = max(inhibition[0] - own[k], 0.0)
                if short_term is not None:
                    for j in range(n_inputs):
                        samples.short_term[row, j, i] = short[j, k] * scale[k]
