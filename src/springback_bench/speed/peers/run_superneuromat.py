"""SuperNeuroMAT: its compiled backend, single precision, dense; testing only.

What differs from the work of the others: synapses are currents (a spike adds its weight to the potential at once), so
the weights are scaled by the mean effect of a conductance; a potential loses a fixed amount in each step, here what an
exponential leak would take half-way between rest and threshold. Its STDP lowers every synapse that does not gain in a
step and knows no bounds, so this network cannot be trained with it.
"""

import sys
import time
from importlib.metadata import version

import worker

# isort: split
import numpy as np
from superneuromat import SNN

MV_PER_WEIGHT, MV_OF_PARTNER, MV_FROM_PARTNER = 0.6, 22.5, -17.5
task = worker.read_task()
if task.learn:
    sys.exit("its STDP lowers every synapse that does not gain in a step, without bounds: it has no rule like this one")
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
n_all = round((worker.SHOW + worker.REST) / task.dt)
exc, inh = worker.EXC, worker.INH


def neurons(net, kind, thresholds):
    """Potentials count from rest; they reset and leak to it."""
    refractory = round(kind["refractory"] / task.dt)
    for threshold in thresholds:
        leak = threshold / 2 * task.dt / kind["tau"]
        net.create_neuron(threshold=threshold, leak=leak, refractory_period=refractory)


def build():
    """The network, ready to run, with the given weights and thresholds, and all input spikes."""
    net = SNN()
    net.default_dtype = np.float32
    net.manual_setup = True
    for _ in range(n_inputs):
        net.create_neuron(threshold=0.5)
    neurons(net, exc, (task.theta + exc["offset"] - exc["rest"]).tolist())
    neurons(net, inh, [inh["threshold"] - inh["rest"]] * n_neurons)
    first, partner = n_inputs, n_inputs + n_neurons
    mat = np.zeros((partner + n_neurons,) * 2, np.float32)
    mat[:first, first:partner] = MV_PER_WEIGHT * task.resting
    mat[first:partner, partner:] = MV_OF_PARTNER * np.eye(n_neurons)
    mat[partner:, first:partner] = MV_FROM_PARTNER * (1 - np.eye(n_neurons))
    for pre, post in np.argwhere(mat).tolist():
        net.create_synapse(pre, post, weight=float(mat[pre, post]), exist="dontadd")
    for step, pixel in zip(task.spike_step.tolist(), task.spike_input.tolist(), strict=True):
        net.add_spike(step, pixel)
    return net


net = build()
net.setup(sparse=False)
net.setup_input_spikes(n * n_all)
before = time.perf_counter()
net.simulate(1, use="jit")
start = worker.since_start()
times = []
counted = 0
for _ in range(task.repeats):
    net.zero_neuron_states()
    net.clear_spike_train()
    net.setup(sparse=False)
    net.setup_input_spikes(n * n_all)
    before = time.process_time()
    net.simulate(n * n_all, use="jit")
    times.append(time.process_time() - before)
    counted = int(np.asarray(net.spike_train)[:, n_inputs : n_inputs + n_neurons].sum())
worker.answer(min(times), n, counted, start, worker.peak_mib(), f"SuperNeuroMAT {version('superneuromat')}")
