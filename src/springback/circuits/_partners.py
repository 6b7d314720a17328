"""The inhibitory partners, all of them at every step.

The paper's own kernel computes only partners that were excited recently (`_membrane.advance_recent`). This is the same
step without such a list, for circuits of other parts.
"""

from springback.compiled import njit


@njit(inline="always", cache=True, nogil=True, error_model="numpy")
def advance_partners(v, ge, wait, own, rest, reset, threshold, reversal, leak, keep_ge, keep_gi, weight, silent):  # type: ignore[no-untyped-def]
    """One step of all partners; returns how many fire. `own` is what each adds to the common inhibition.

    A partner that fires inhibits all others from the next step on; `silent` steps pass until it can fire again.
    """
    above = False
    for k in range(v.shape[0]):
        own[k] *= keep_gi
        now = (v[k] + leak * (rest + ge[k] * reversal)) / (1.0 + leak * (1.0 + ge[k]))
        v[k] = now if wait[k] == 0 else v[k]
        ge[k] *= keep_ge
        above |= now > threshold
    fired = 0
    for k in range(v.shape[0]):
        if above and wait[k] == 0 and v[k] > threshold:
            v[k] = reset
            wait[k] = silent + 1
            own[k] += weight
            fired += 1
        wait[k] = wait[k] - 1 if wait[k] > 0 else 0
    return fired
