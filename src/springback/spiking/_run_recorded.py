"""A stretch of time steps of a recorded run: the kernel, left only where a monitor of neurons or synapses is due."""

from springback.compiled import njit
from springback.spiking._kernel import run_steps
from springback.spiking._state import STEP
from springback.spiking._watch import NEURONS, SYNAPSES, sample_neurons, sample_synapses
from springback.spiking.encoding import SpikeTrain


@njit(cache=True, nogil=True, error_model="numpy")
def run_recorded(  # type: ignore[no-untyped-def]
    constants, resting, state, inputs, n_steps, counts, long_term, short_term, watch
):
    """Run `n_steps` like `run_steps`, and sample what is due; the buffers must have room for that many steps."""
    total = done = 0
    while done < n_steps:
        step = state.tally[STEP]
        due = max(min(watch.due[NEURONS], watch.due[SYNAPSES]), step)
        block = min(n_steps - done, due - step + 1)
        now = SpikeTrain(inputs.which, inputs.first[done:])
        total += run_steps(constants, resting, state, now, block, counts, long_term, short_term, watch)
        done += block
        last = step + block - 1
        if last >= watch.due[NEURONS]:
            sample_neurons(watch, state, constants, last, 0, 1.0)
        if last >= watch.due[SYNAPSES]:
            sample_synapses(watch, resting, long_term, short_term, last)
    return total
