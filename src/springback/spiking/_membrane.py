"""The membranes: leaky integrate-and-fire with conductances, one linearly implicit step.

    v' = (v + a (E_rest + g_e E_e + g_i E_i)) / (1 + a (1 + g_e + g_i)),    a = dt / tau_membrane

The step is stable for any conductance. Partners may advance by the exact solution for a constant conductance instead,

    v' = u + (v - u) exp(-a (1 + g_e)),    u = (E_rest + g_e E_e) / (1 + g_e)

All neurons receive a common inhibition, minus the contribution of their own partner. Only neurons that fired recently
have such a contribution, so they are computed separately, and all others with a single number.
"""

import numpy as np

from springback.compiled import njit


@njit(cache=True, inner=True, nogil=True, error_model="numpy", fastmath={"contract"})
def advance_all(v, ge, theta, gi, scale, constants, resting, which, start, stop):  # type: ignore[no-untyped-def]
    """One step of all excitatory neurons under inhibition `gi`; returns whether any is above threshold.

    Then the input spikes `which[start:stop]` arrive. The first four do so in the same pass over the neurons: their
    weights come from the second-level cache while the divisions are under way. The tiny constant keeps conductances
    from becoming denormal, which would slow down every step. The comparison with the thresholds gives a flag and not a
    count: a flag is as narrow as the potentials, while with a 64-bit count the loop takes 1.6 times as long.
    """
    kind = v.dtype.type
    leak, keep, tiny = constants.leak_e, constants.keep_ge, kind(1e-30)
    drive = leak * (constants.rest_e + gi * constants.rev_inh_e)
    pull = leak * constants.rev_exc_e
    base = kind(1.0) + leak * (kind(1.0) + gi)
    offset = constants.offset_e
    n = stop - start
    i = which[start] if n > 0 else 0
    row_0, part_0 = resting[i], kind(n > 0)
    row_1, part_1 = resting[which[start + 1] if n > 1 else i], kind(n > 1)
    row_2, part_2 = resting[which[start + 2] if n > 2 else i], kind(n > 2)
    row_3, part_3 = resting[which[start + 3] if n > 3 else i], kind(n > 3)
    above = False
    for k in range(v.shape[0]):
        g = ge[k]
        now = (v[k] + (drive + pull * g)) / (base + leak * g)
        v[k] = now
        arrived = part_0 * row_0[k] + part_1 * row_1[k] + part_2 * row_2[k] + part_3 * row_3[k]
        ge[k] = g * keep + tiny + arrived
        above |= now > scale * theta[k] + offset
    for late in range(start + 4, stop):
        row = resting[which[late]]
        for k in range(v.shape[0]):
            ge[k] += row[k]
    return above


@njit(inline="always", cache=True, nogil=True)
def remember_recent(v, ge, recent, n_recent):  # type: ignore[no-untyped-def]
    """Save what `advance_all` will overwrite, for the neurons that are computed separately."""
    for r in range(n_recent):
        one = recent[r]
        one.v = v[one.neuron]
        one.ge = ge[one.neuron]


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def advance_recent(v, theta, recent, n_recent, partners, gi, scale, constants):  # type: ignore[no-untyped-def]
    """One step of the neurons that fired recently and of their partners; returns (number above, partners that fire).

    A refractory neuron keeps its potential. A partner that fires inhibits all others from the next step on; `partners`
    receives the neurons whose partners fire.
    """
    kind = v.dtype.type
    leak, leak_i, one_ = constants.leak_e, constants.leak_i, kind(1.0)
    exact_i = constants.exact_i
    shrink_i = kind(np.exp(-leak_i)) if exact_i else one_ / (one_ + leak_i)
    above, n_partners = 0, 0
    for r in range(n_recent):
        one = recent[r]
        if one.wait > 0:
            v[one.neuron] = one.v
        else:
            felt = max(gi - one.own, kind(0.0))
            drive = leak * (constants.rest_e + one.ge * constants.rev_exc_e + felt * constants.rev_inh_e)
            now = (one.v + drive) / (one_ + leak * (one_ + one.ge + felt))
            v[one.neuron] = now
            above += now > scale * theta[one.neuron] + constants.offset_e
        one.own *= constants.keep_gi
        if one.partner_wait > 0:
            one.partner_wait -= 1
        elif one.partner_ge < constants.negligible:
            one.partner_v = constants.rest_i + (one.partner_v - constants.rest_i) * shrink_i
        else:
            drive, load = constants.rest_i + one.partner_ge * constants.rev_exc_i, one_ + one.partner_ge
            if exact_i:
                towards = drive / load
                one.partner_v = towards + (one.partner_v - towards) * kind(np.exp(-leak_i * load))
            else:
                one.partner_v = (one.partner_v + leak_i * drive) / (one_ + leak_i * load)
            if one.partner_v > constants.thr_i:
                one.partner_v = constants.reset_i
                one.partner_wait = constants.refractory_i
                one.own += constants.from_inh
                partners[n_partners] = one.neuron
                n_partners += 1
        one.partner_ge *= constants.keep_ge
    return above, n_partners


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def relaxed_partner(k, inh_v, n_steps, constants):  # type: ignore[no-untyped-def]
    """The potential of the partner of neuron k, `n_steps` after nothing but its leak was left."""
    once = np.exp(-float(constants.leak_i)) if constants.exact_i else 1.0 / (1.0 + constants.leak_i)
    return constants.rest_i + (inh_v[k] - constants.rest_i) * inh_v.dtype.type(once**n_steps)


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def fire(k, v, recent, place, inh_v, inh_step, common, constants):  # type: ignore[no-untyped-def]
    """Neuron k fires: it is reset and refractory, and excites its partner."""
    kind = v.dtype.type
    if place[k] < 0:
        place[k] = common.n_recent
        common.n_recent += 1
        new = recent[place[k]]
        new.neuron = k
        new.own = kind(0.0)
        new.partner_wait = 0
        new.partner_ge = kind(0.0)
        new.partner_v = relaxed_partner(k, inh_v, common.step - inh_step[k], constants)
    one = recent[place[k]]
    one.wait = constants.refractory_e + 1
    one.partner_ge += constants.to_inh
    v[k] = constants.reset_e


@njit(inline="always", cache=True, nogil=True)
def release_recent(recent, place, inh_v, inh_step, common, constants):  # type: ignore[no-untyped-def]
    """Count down refractory times; remove neurons that no longer differ from the others."""
    r = 0
    while r < common.n_recent:
        one = recent[r]
        if one.wait > 0:
            one.wait -= 1
        loud = one.own >= constants.negligible or one.partner_ge >= constants.negligible
        if loud or one.wait > 0 or one.partner_wait > 0:
            r += 1
            continue
        inh_v[one.neuron] = one.partner_v
        inh_step[one.neuron] = common.step
        place[one.neuron] = -1
        common.n_recent -= 1
        if r < common.n_recent:
            recent[r] = recent[common.n_recent]
            place[recent[r].neuron] = r


@njit(cache=True, inner=True, nogil=True)
def is_quiet(state, constants):  # type: ignore[no-untyped-def]
    """Whether only the leak acts on the neurons, and none of them can fire."""
    common = state.common[0]
    if common.n_recent > 0 or common.inhibition > 0.0:
        return False
    v, ge, theta, scale = state.v, state.ge, state.theta, common.theta_scale
    for k in range(v.shape[0]):
        threshold = scale * theta[k] + constants.offset_e
        if ge[k] > constants.negligible or threshold <= max(constants.rest_e, v[k]):
            return False
    return True


@njit(cache=True, inner=True, nogil=True, error_model="numpy")
def jump(state, n_steps, keep_theta, constants):  # type: ignore[no-untyped-def]
    """Let quiet steps pass at once: v - v_rest shrinks by (1 + a)^-n."""
    v, ge, common = state.v, state.ge, state.common[0]
    kind = v.dtype.type
    shrink = kind((1.0 / (1.0 + constants.leak_e)) ** n_steps)
    for k in range(v.shape[0]):
        v[k] = constants.rest_e + (v[k] - constants.rest_e) * shrink
        ge[k] = kind(0.0)
    common.theta_scale *= keep_theta**n_steps
    common.step += n_steps
