"""The circuit again, slow and plain: dense NumPy, one step after the other, as the reference runs describe it.

`random_bits` and `stream_key` are its random numbers (SplitMix64) in Python's own integers.
"""

import numpy as np

GOLDEN, MASK = 0x9E3779B97F4A7C15, 2**64 - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_bits(key):
    """The stream of 64-bit numbers that belongs to a key."""
    while True:
        key = (key + GOLDEN) & MASK
        yield mix(key)


def stream_key(seed, purpose, number, attempt):
    """The key of the random numbers of one presentation."""
    key = 0
    for part in (seed, purpose, number, attempt):
        key = mix(key ^ ((part + GOLDEN) & MASK))
    return key


def run(
    circuit, resting, theta, index, step, n_steps, *, stdp=None, short_term=None, normalise_every=None, observe=None
):
    """(output spikes as (neuron, step) pairs, weights, theta, F, v) after `n_steps`; `observe` sees every step."""
    n, k, dt = circuit.n_inputs, circuit.n_neurons, circuit.dt_ms
    exc, inh = circuit.excitatory, circuit.inhibitory
    w, theta = resting.astype(float).copy(), theta.astype(float).copy()
    v, ge, gi = np.full(k, exc.v_rest_mv), np.zeros(k), np.zeros(k)
    vi, gei = np.full(k, inh.v_rest_mv), np.zeros(k)
    last_e, last_i = np.full(k, -(10**9)), np.full(k, -(10**9))
    wait_e, wait_i = round(exc.refractory_ms / dt), round(inh.refractory_ms / dt)
    a_e, a_i = dt / exc.tau_membrane_ms, dt / inh.tau_membrane_ms
    keep_e, keep_i = 1 - dt / circuit.tau_excitatory_ms, 1 - dt / circuit.tau_inhibitory_ms
    pre, post_1, post_2 = np.zeros(n), np.zeros(k), np.zeros(k)
    trace, f, bias = np.zeros(n), np.zeros((n, k)), np.zeros(k)
    active_since, last_spike = np.full(k, -(10**9)), np.full(k, -(10**9))
    if short_term is not None:
        decay = np.exp(-dt / np.broadcast_to(np.asarray(short_term.memory_ms), (n, k)))
        gain = short_term.pull * np.maximum(0, short_term.weight_dependence + (1 - short_term.weight_dependence) * w)
        cap = np.inf if short_term.efficacy_max is None else short_term.efficacy_max
        soma = short_term.intrinsic
    spikes = []
    for t in range(n_steps):
        if stdp is not None:
            if normalise_every and t % normalise_every == 0:
                w *= stdp.weight_sum / w.sum(axis=0)
            theta *= np.exp(-dt / stdp.tau_theta_ms)
            pre *= np.exp(-dt / stdp.tau_pre_ms)
            post_1 *= np.exp(-dt / stdp.tau_post_1_ms)
            post_2 *= np.exp(-dt / stdp.tau_post_2_ms)
        threshold = theta + exc.threshold_offset_mv
        if short_term is not None:
            f *= decay
            trace *= np.exp(-dt / short_term.tau_trace_ms)
            if soma is not None:
                bias *= np.exp(-dt / soma.tau_ms)
                threshold = threshold - bias
        free_e, free_i = t - last_e >= wait_e, t - last_i >= wait_i
        drive = a_e * (exc.v_rest_mv + ge * exc.e_excitatory_mv + gi * exc.e_inhibitory_mv)
        v = np.where(free_e, (v + drive) / (1 + a_e * (1 + ge + gi)), v)
        if inh.exact_step:
            rate = a_i * (1 + gei)
            next_vi = vi * np.exp(-rate) - np.expm1(-rate) * (inh.v_rest_mv + gei * inh.e_excitatory_mv) / (1 + gei)
        else:
            next_vi = (vi + a_i * (inh.v_rest_mv + gei * inh.e_excitatory_mv)) / (1 + a_i * (1 + gei))
        vi = np.where(free_i, next_vi, vi)
        ge, gi, gei = ge * keep_e, gi * keep_i, gei * keep_e
        fire_e, fire_i = free_e & (v > threshold), free_i & (vi > inh.v_threshold_mv)
        gei += circuit.weight_to_inhibitory * fire_e
        gi += circuit.weight_from_inhibitory * (fire_i.sum() - fire_i)
        for j in index[step == t]:
            ge += w[j] + f[j]
            if stdp is not None:
                pre[j] = 1
                w[j] = np.maximum(w[j] - stdp.rate_pre * post_1, 0)
            trace[j] += 1
        for one in np.flatnonzero(fire_e):
            spikes.append((one, t))
            if stdp is not None:
                w[:, one] = np.minimum(w[:, one] + stdp.rate_post * pre * post_2[one], stdp.weight_max)
                post_1[one] = post_2[one] = 1
                theta[one] += stdp.theta_step_mv
            if short_term is not None:
                if (t - last_spike[one]) * dt > short_term.pause_ms:
                    active_since[one] = t
                last_spike[one] = t
                if (t - active_since[one]) * dt >= (short_term.delay_ms or 0.0):
                    f[:, one] = np.minimum(f[:, one] + gain[:, one] * trace, np.maximum(cap - w[:, one], 0))
                if soma is not None:
                    bias[one] = np.clip(bias[one] + soma.step_mv, -soma.max_mv, soma.max_mv)
        v[fire_e], vi[fire_i] = exc.v_reset_mv, inh.v_reset_mv
        last_e[fire_e], last_i[fire_i] = t, t
        if observe is not None:
            observe(
                potential_mv=v,
                threshold_mv=theta - bias + exc.threshold_offset_mv,
                excitation=ge,
                inhibition=gi,
                partner_potential_mv=vi,
                partner_excitation=gei,
                pre_trace=pre,
                post_trace_1=post_1,
                post_trace_2=post_2,
                input_trace=trace,
                W=w,
                F=f,
                G=w + f,
                partners=fire_i,
            )
    return spikes, w, theta, f, v
