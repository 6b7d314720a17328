"""spyx: its leaky neurons in JAX, compiled by XLA, dense; testing only, in batches of one or more.

What differs from the work of the others: synapses are currents (a spike adds its weight to the potential at once), so
the weights are scaled by the mean effect of a conductance; there are no refractory times, a spike takes the threshold
from the potential instead of resetting it, and instead of 150 ms of rest the state begins anew. Input spikes are drawn
outside the measured time. It learns by surrogate gradients and has no STDP.
"""

import sys
import time
from importlib.metadata import version

import worker

# isort: split
import jax
import numpy as np
from flax import nnx
from jax import numpy as jnp
from spyx import nn

MV_PER_WEIGHT, MV_OF_PARTNER, MV_FROM_PARTNER = 0.6, 22.5, -17.5
task = worker.read_task()
if task.learn:
    sys.exit("it learns by surrogate gradients, with labels, and has no STDP")
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
n_steps, n_all = (round(ms / task.dt) for ms in (worker.SHOW, worker.SHOW + worker.REST))
exc, inh = worker.EXC, worker.INH


class Circuit(nnx.Module):
    """Excitatory neurons, and a partner of each that inhibits all others; potentials count from rest."""

    def __init__(self):
        rngs = nnx.Rngs(0)
        thresholds = jnp.asarray(task.theta + exc["offset"] - exc["rest"], jnp.float32)
        self.excitatory = nn.LIF((n_neurons,), 1 - task.dt / exc["tau"], thresholds, rngs=rngs)
        self.partner = nn.LIF((n_neurons,), 1 - task.dt / inh["tau"], inh["threshold"] - inh["rest"], rngs=rngs)
        self.weights = nnx.Param(MV_PER_WEIGHT * jnp.asarray(task.resting))
        self.inhibition = nnx.Param(MV_FROM_PARTNER * (1 - jnp.eye(n_neurons)))

    def __call__(self, x, state):
        """One step: the spikes, and the state after it."""
        v, v_partner, inhibiting = state
        spikes, v = self.excitatory(x @ self.weights[...] + inhibiting @ self.inhibition[...], v)
        inhibiting, v_partner = self.partner(MV_OF_PARTNER * spikes, v_partner)
        return spikes, (v, v_partner, inhibiting)

    def initial_state(self, batch_size):
        """Everything at rest."""
        return (jnp.zeros((batch_size, n_neurons)),) * 3


def drawn_batches():
    """Input spikes (steps, batch, inputs) of the images, in batches."""
    raster = np.zeros((n * n_all, n_inputs), np.float32)
    raster[task.spike_step, task.spike_input] = 1.0
    images = raster.reshape(n, n_all, n_inputs)[:, :n_steps].swapaxes(0, 1)
    return [jnp.asarray(images[:, first : first + task.batch]) for first in range(0, n, task.batch)]


@nnx.jit
def count(circuit, spikes):
    """Output spikes to a batch."""
    return nn.run(circuit, spikes)[0].sum()


circuit, batches = Circuit(), drawn_batches()
for size in {len(batch[0]) for batch in batches}:
    count(circuit, next(batch for batch in batches if len(batch[0]) == size)).block_until_ready()
start = worker.since_start()
times, counted = [], 0.0
for _ in range(task.repeats):
    before = time.process_time()
    counted = sum(float(count(circuit, batch)) for batch in batches)
    times.append(time.process_time() - before)
worker.answer(min(times), n, counted, start, worker.peak_mib(), f"spyx {version('spyx')}, JAX {jax.__version__}")
