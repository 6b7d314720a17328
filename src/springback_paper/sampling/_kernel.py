"""The compiled loop of the sampling networks: frames or input spikes in, samples of Q out, with plasticity or without.

One step, in this order: everything decays; input spikes arrive; if the circuit may fire in this step, the similarities,
the posterior and the winner are computed, and the winner's synapses change. Nothing else depends on the similarities,
so they are only computed where a spike is due.

A part that is None is absent, and pruned when compiling: analog input = no traces; static = no short_term, no learning.
"""

import numpy as np

from springback.compiled import njit
from springback.spiking._random import GOLDEN, mix, stream_key
from springback.spiking.encoding import SpikeTrain, draw_spikes

NEGLIGIBLE = 1e-6
"""A pull is dropped below this share of W, and a trace below this share of the trace of one new spike."""

SMALLEST_SCALE = 1e-12
_LEAST_LOG_SHARE = -30.0
_TINY = 1e-20
_ALL = 2.0
_UNIT = 1.0 / 9007199254740992.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def weigh_rows(total, matrix, rows, values, n_rows, width):  # type: ignore[no-untyped-def]
    """`total[:width] = sum_i values[i] * matrix[rows[i], :width]`."""
    for k in range(width):
        total[k] = np.float32(0.0)
    paired = n_rows - n_rows % 4
    for i in range(0, paired, 4):
        a, b, c, d = matrix[rows[i]], matrix[rows[i + 1]], matrix[rows[i + 2]], matrix[rows[i + 3]]
        x, y, z, w = values[i], values[i + 1], values[i + 2], values[i + 3]
        for k in range(width):
            total[k] += (x * a[k] + y * b[k]) + (z * c[k] + w * d[k])
    for i in range(paired, n_rows):
        a, x = matrix[rows[i]], values[i]
        for k in range(width):
            total[k] += x * a[k]


@njit(cache=True, nogil=True, error_model="numpy")
def normalise(values, n):  # type: ignore[no-untyped-def]
    """Scale the first n values to length one; returns whether they had a direction."""
    total = 0.0
    for i in range(n):
        total += np.float64(values[i]) * values[i]
    if total <= 0.0:
        return False
    factor = np.float32(1.0 / np.sqrt(total))
    for i in range(n):
        values[i] *= factor
    return True


@njit(cache=True, nogil=True)
def settle_traces(trace, trace_scale, lit, n_lit, below):  # type: ignore[no-untyped-def]
    """Write the common factors below a bound into the traces; tiny values are set to zero before they are denormal."""
    for m in range(trace_scale.shape[0]):
        if trace_scale[m] >= below:
            continue
        factor = np.float32(trace_scale[m])
        for i in range(n_lit):
            settled = trace[lit[i], m] * factor
            trace[lit[i], m] = settled if settled > np.float32(_TINY) else np.float32(0.0)
        trace_scale[m] = 1.0


@njit(cache=True, nogil=True)
def look(frame, lit, seen, felt, common):  # type: ignore[no-untyped-def]
    """Analog input: plasticity and membrane receive the frame itself, scaled to length one."""
    n = 0
    for j in range(frame.shape[0]):
        if frame[j] != 0:
            lit[n] = j
            seen[n] = frame[j]
            n += 1
    if not normalise(seen, n):
        n = 0
    for i in range(n):
        felt[i] = seen[i]
    common.n_lit = n


@njit(cache=True, nogil=True)
def prune_lit(trace, trace_scale, share, epsp, lit, is_lit, common):  # type: ignore[no-untyped-def]
    """After a frame: remove the inputs whose spikes were too long ago."""
    settle_traces(trace, trace_scale, lit, common.n_lit, _ALL)
    whole = np.float32(0.0)
    for m in range(share.shape[0]):
        whole += share[m]
    kept = 0
    for i in range(common.n_lit):
        j = lit[i]
        left = np.float32(0.0)
        for m in range(share.shape[0]):
            left += share[m] * trace[j, m]
        if epsp[j] > 0 or left > NEGLIGIBLE * whole:
            lit[kept] = j
            kept += 1
        else:
            is_lit[j] = False
            trace[j] = np.float32(0.0)
    common.n_lit = kept


@njit(cache=True, nogil=True)
def settle_short(short, member, overlap, stretch, calls, common, resting):  # type: ignore[no-untyped-def]
    """Write the common factor into F."""
    scale = common.scale
    common.scale = 1.0
    common.total *= scale
    for s in range(common.n_members):
        k = member[s]
        calls[k] *= scale
        overlap[k], stretch[k] = 0.0, 0.0
        for j in range(short.shape[0]):
            short[j, s] *= np.float32(scale)
            overlap[k] += np.float64(resting[j, k]) * short[j, s]
            stretch[k] += np.float64(short[j, s]) * short[j, s]


@njit(cache=True, makes_arrays=True, nogil=True)
def release(short, member, slot_of, overlap, stretch, calls, common):  # type: ignore[no-untyped-def]
    """After a frame: release the slots of neurons that have sprung back."""
    scale, s = common.scale, 0
    while s < common.n_members:
        k = member[s]
        if stretch[k] * scale * scale > NEGLIGIBLE * NEGLIGIBLE or calls[k] * scale > NEGLIGIBLE:
            s += 1
            continue
        common.total = max(common.total - calls[k], 0.0)
        overlap[k], stretch[k], calls[k] = 0.0, 0.0, 0.0
        slot_of[k] = -1
        last = common.n_members - 1
        if s < last:
            member[s] = member[last]
            slot_of[member[s]] = s
            short[:, s] = short[:, last]
        short[:, last] = np.float32(0.0)
        common.n_members = last


@njit(cache=True, nogil=True)
def clear(state):  # type: ignore[no-untyped-def]
    """Return to rest, so that the next image is seen on its own."""
    common = state.common[0]
    for i in range(common.n_lit):
        state.trace[state.lit[i]] = np.float32(0.0)
    for s in range(common.n_members):
        k = state.member[s]
        state.slot_of[k] = -1
        state.overlap[k], state.stretch[k], state.calls[k] = 0.0, 0.0, 0.0
        state.short[:, s] = np.float32(0.0)
    state.trace_scale[:] = 1.0
    state.epsp[:] = np.float32(0.0)
    state.ring_n[:] = 0
    state.is_lit[:] = False
    common.scale, common.total = 1.0, 0.0
    common.n_lit, common.n_members, common.head, common.tail = 0, 0, 0, 0


@njit(cache=True, nogil=True, error_model="numpy")
def choose(value, bias, weight, relu, kappa):  # type: ignore[no-untyped-def]
    """Fill `weight` with the joint probabilities of all neurons; returns (their sum, the logarithm of its unit)."""
    n = value.shape[0]
    total, unit = 0.0, 0.0
    if relu:
        for k in range(n):
            weight[k] = max(value[k] + bias[k], np.float32(0.0))
            total += weight[k]
        return total, unit
    best = np.float32(-np.inf)
    for k in range(n):
        weight[k] = kappa * value[k] + bias[k]
        best = max(best, weight[k])
    for k in range(n):
        log_share = weight[k] - best
        weight[k] = np.exp(log_share) if log_share > _LEAST_LOG_SHARE else np.float32(0.0)
        total += weight[k]
    return total, np.float64(best)


@njit(cache=True, makes_arrays=True, nogil=True, error_model="numpy")
def run_steps(  # type: ignore[no-untyped-def]
    constants, neurons, state, inputs, n_steps, key, counts, traces, short_term, learning
):
    """Run `n_steps`, adding output spikes to `counts`; returns (summed largest similarity, how often it was summed)."""
    # Unpack, once for all steps.
    resting, length_squared, one_over_length = neurons.resting, neurons.length_squared, neurons.one_over_length
    prior, rest_bias, n_learned = neurons.prior, neurons.bias, neurons.n_learned
    which, first = inputs.which, inputs.first
    trace, trace_scale, epsp, ring, ring_n = state.trace, state.trace_scale, state.epsp, state.ring, state.ring_n
    lit, is_lit, seen, felt, short = state.lit, state.is_lit, state.seen, state.felt, state.short
    member, slot_of, overlap, stretch, calls = state.member, state.slot_of, state.overlap, state.stretch, state.calls
    drive, value, bias, weight = state.drive, state.value, state.bias, state.weight
    common = state.common[0]
    relu, kappa, chance = constants.relu, np.float32(constants.kappa), constants.chance
    n_neurons = resting.shape[1]
    bias[:] = rest_bias
    if traces is not None:
        share, keep_trace, window = traces.share, traces.keep, traces.window
        n_terms = keep_trace.shape[0]
    else:
        weigh_rows(drive, resting, lit, felt, common.n_lit, n_neurons)
    if short_term is not None:
        top, beta = short_term.top, short_term.beta
    summed, n_looked = 0.0, 0
    for t in range(n_steps):
        # Decay: F and the input traces, by their common factors.
        step = common.step
        common.step = step + 1
        if short_term is not None:
            common.scale *= short_term.keep
        if traces is not None:
            worn = False
            for m in range(n_terms):
                trace_scale[m] *= keep_trace[m]
                worn = worn or trace_scale[m] < SMALLEST_SCALE
            if worn:
                settle_traces(trace, trace_scale, lit, common.n_lit, SMALLEST_SCALE)
            # Input spikes: those whose EPSP ends now leave the ring, those of this step enter it.
            if window > 0:
                now = step % window
                for _ in range(ring_n[now]):
                    epsp[ring[common.tail]] -= np.float32(1.0)
                    common.tail = (common.tail + 1) % ring.shape[0]
                ring_n[now] = first[t + 1] - first[t]
            for i in range(first[t], first[t + 1]):
                j = which[i]
                if not is_lit[j]:
                    is_lit[j] = True
                    lit[common.n_lit] = j
                    common.n_lit += 1
                for m in range(n_terms):
                    trace[j, m] += np.float32(1.0 / trace_scale[m])
                if window > 0:
                    epsp[j] += np.float32(1.0)
                    ring[common.head] = j
                    common.head = (common.head + 1) % ring.shape[0]

        # May the circuit fire in this step? Nothing below is computed unless a random number says so.
        key += GOLDEN
        luck = (mix(key) >> np.uint64(11)) * _UNIT
        if luck >= chance:
            continue

        # What the inputs show: for plasticity (seen) and for the membranes (felt), each of length one.
        n_lit = common.n_lit
        if traces is not None:
            settle_traces(trace, trace_scale, lit, n_lit, _ALL)
            for i in range(n_lit):
                j = lit[i]
                estimate = np.float32(0.0)
                for m in range(n_terms):
                    estimate += share[m] * trace[j, m]
                seen[i] = estimate
                felt[i] = epsp[j] if window > 0 else estimate
            if not (normalise(seen, n_lit) and normalise(felt, n_lit)):
                continue
            weigh_rows(drive, resting, lit, felt, n_lit, n_neurons)
        elif n_lit == 0:
            continue

        # Similarities: the cosine with W, and with W + F for stretched neurons; biases move if there is a beta.
        for k in range(n_neurons):
            value[k] = drive[k] * one_over_length[k]
        if short_term is not None:
            scale, n_members = common.scale, common.n_members
            weigh_rows(weight, short, lit, felt, n_lit, n_members)
            for s in range(n_members):
                k = member[s]
                square = length_squared[k] + scale * (2.0 * overlap[k] + scale * stretch[k])
                value[k] = (drive[k] + np.float32(scale) * weight[s]) * np.float32(1.0 / np.sqrt(square))
            if beta > 0.0:
                kept = beta / (scale * common.total + beta)
                log_kept = np.log(kept)
                for k in range(n_neurons):
                    if relu:
                        bias[k] = kept * (scale * calls[k] / beta + prior[k]) - constants.threshold
                    elif calls[k] == 0.0:
                        bias[k] = rest_bias[k] + log_kept
                    else:
                        bias[k] = np.log(kept * (scale * calls[k] / beta + prior[k]))

        # The posterior, and one sample of it.
        nearest = value[0]
        for k in range(1, n_neurons):
            nearest = max(nearest, value[k])
        summed += nearest
        n_looked += 1
        if nearest < constants.silence:
            continue
        total, unit = choose(value, bias, weight, relu, kappa)
        if total <= 0.0:
            continue
        if not constants.adaptive:
            rate = total / constants.inhibition if relu else total * np.exp(unit - constants.inhibition)
            if luck >= -np.expm1(-rate * constants.dt_s):
                continue
        key += GOLDEN
        level_to_reach = (mix(key) >> np.uint64(11)) * _UNIT * total
        winner, reached = 0, 0.0
        for k in range(n_neurons):
            if weight[k] > 0:
                winner = k
                reached += weight[k]
                if reached > level_to_reach:
                    break
        counts[winner] += 1

        # The winner is pulled towards what was seen; W.F and F.F are updated and not recomputed.
        if short_term is not None:
            if common.scale < SMALLEST_SCALE:
                settle_short(short, member, overlap, stretch, calls, common, resting)
            s = slot_of[winner]
            if s < 0:
                s = common.n_members
                common.n_members = s + 1
                slot_of[winner] = s
                member[s] = winner
            enlarge = np.float32(1.0 / common.scale)
            gain, c = np.float32(short_term.pull) * enlarge, np.float32(short_term.weight_dependence)
            slope = (np.float32(1.0) - c) / top[winner]
            more_overlap, more_stretch = 0.0, 0.0
            for i in range(n_lit):
                j = lit[i]
                resting_weight, old = resting[j, winner], short[j, s]
                new = old + gain * max(c + slope * resting_weight, np.float32(0.0)) * seen[i]
                short[j, s] = new
                more_overlap += np.float64(resting_weight) * (np.float64(new) - old)
                more_stretch += np.float64(new) * new - np.float64(old) * old
            overlap[winner] += more_overlap
            stretch[winner] += more_stretch
            calls[winner] += 1.0 / common.scale
            common.total += 1.0 / common.scale

        # Online EM: the winner's weights move towards what was seen.
        if learning is not None:
            n_learned[winner] += 1.0
            rate = np.float32(max(1.0 / n_learned[winner], learning.rate_min))
            for j in range(resting.shape[0]):
                resting[j, winner] *= np.float32(1.0) - rate
            for i in range(n_lit):
                resting[lit[i], winner] += rate * seen[i]
            square = 0.0
            for j in range(resting.shape[0]):
                square += np.float64(resting[j, winner]) * resting[j, winner]
            length_squared[winner] = square
            one_over_length[winner] = 1.0 / np.sqrt(square)
            if traces is None:
                drive[winner] = (np.float32(1.0) - rate) * drive[winner] + rate
            if learning.uses_prior:
                all_learned = n_learned.sum()
                for k in range(n_neurons):
                    share_of_k = n_learned[k] / all_learned
                    bias[k] = share_of_k - constants.threshold if relu else np.log(share_of_k)
                    rest_bias[k] = bias[k]
    return summed, n_looked


@njit(cache=True, nogil=True)
def end_frame(neurons, state, traces, short_term):  # type: ignore[no-untyped-def]
    """After each frame: drop what is negligible."""
    common, member, calls = state.common[0], state.member, state.calls
    if traces is not None:
        prune_lit(state.trace, state.trace_scale, traces.share, state.epsp, state.lit, state.is_lit, common)
    if short_term is not None:
        if common.scale < SMALLEST_SCALE:
            settle_short(state.short, member, state.overlap, state.stretch, calls, common, neurons.resting)
        release(state.short, member, state.slot_of, state.overlap, state.stretch, calls, common)


@njit(cache=True, makes_arrays=True, nogil=True, error_model="numpy")
def present_frames(  # type: ignore[no-untyped-def]
    constants, neurons, state, frames, draws, each_from_rest, response, traces, short_term, learning
):
    """Show frames one after the other; row i of `response` receives what the network answers to frame i.

    Parameters
    ----------
    constants, neurons, state, response
        `Constants`, `Neurons`, `SamplingState` and `SamplingResponse`.
    draws
        `Draws`: which random numbers the frames are encoded and answered with.
    each_from_rest
        Whether every frame is seen on its own.
    traces, short_term, learning
        `Traces`, `ShortTerm` and `Learning`; each may be None.
    """
    for i in range(frames.shape[0]):
        if each_from_rest:
            clear(state)
        key = stream_key(draws.seed, draws.purpose, draws.number + i, 1)
        if traces is not None:
            inputs = SpikeTrain(traces.which, traces.first)
            arrivals = stream_key(draws.seed, draws.purpose, draws.number + i, 0)
            draw_spikes(
                frames[i], traces.rates, constants.n_show, arrivals, traces.alias_table, inputs.which, inputs.first
            )
        else:
            inputs = SpikeTrain(np.empty(0, np.int32), np.empty(0, np.int64))
            look(frames[i], state.lit, state.seen, state.felt, state.common[0])
        summed, n_looked = run_steps(
            constants, neurons, state, inputs, constants.n_show, key, response.counts[i], traces, short_term, learning
        )
        response.similarity[i] = summed / n_looked if n_looked > 0 else 0.0
        end_frame(neurons, state, traces, short_term)
