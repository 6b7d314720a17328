"""NEST: its conductance neuron and its triplet synapse, in double precision, input spikes drawn beforehand.

What differs from the work of the others: thresholds stay where they are, because its conductance neurons have none that
move; every synapse has a delay, the shortest being one step; the first trace of an input adds up over spikes, and the
second one of a neuron is one that NEST keeps. Its neurons are integrated by a solver with steps of its own. Between
images, outside the measured time, the weights are normalised.
"""

import time

import worker

# isort: split
import nest
import numpy as np

task = worker.read_task()
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
image_ms = worker.SHOW + worker.REST
exc, inh = worker.EXC, worker.INH

nest.verbosity = nest.VerbosityLevel.ERROR
nest.ResetKernel()
nest.resolution = task.dt
nest.local_num_threads = 1


def group(kind, threshold):
    """Neurons whose conductances count in units of their leak."""
    common = {
        "C_m": kind["tau"],
        "g_L": 1.0,
        "E_L": kind["rest"],
        "V_reset": kind["reset"],
        "t_ref": kind["refractory"],
    }
    synapses = {"E_ex": 0.0, "E_in": exc["rev_i"], "tau_syn_ex": worker.TAU_GE, "tau_syn_in": worker.TAU_GI}
    traces = {"tau_minus": worker.TAU_POST_1, "tau_minus_triplet": worker.TAU_POST_2}
    begin = {"V_m": kind["rest"], "V_th": threshold}
    return nest.Create("iaf_cond_exp", n_neurons, params={**common, **synapses, **traces, **begin})


excitatory = group(exc, (task.theta + exc["offset"]).tolist())
inhibitory = group(inh, inh["threshold"])
# An input spike in step s is felt in step s: the generator, its relay and the synapse each add one step.
first_ms = 3 * task.dt
order = np.lexsort((task.spike_step, task.spike_input))
which, when = task.spike_input[order], task.spike_step[order] * task.dt + first_ms
bounds = np.searchsorted(which, np.arange(n_inputs + 1))
source = nest.Create("spike_generator", n_inputs)
source.set([{"spike_times": when[bounds[i] : bounds[i + 1]].tolist()} for i in range(n_inputs)])
inputs = nest.Create("parrot_neuron", n_inputs)
nest.Connect(source, inputs, "one_to_one", {"delay": task.dt})
if task.learn:
    nest.CopyModel(
        "stdp_triplet_synapse",
        "learned",
        {
            "tau_plus": worker.TAU_PRE,
            "Aplus": 0.0,
            "Aplus_triplet": worker.RATE_POST,
            "Aminus": worker.RATE_PRE,
            "Aminus_triplet": 0.0,
            "Wmax": worker.WEIGHT_MAX,
        },
    )
else:
    nest.CopyModel("static_synapse", "learned")
nest.Connect(
    inputs,
    excitatory,
    "all_to_all",
    {"synapse_model": "learned", "weight": task.resting.T.astype(float), "delay": task.dt},
)
learned = nest.GetConnections(inputs, excitatory)
to_neuron = np.array(learned.target) - min(excitatory.tolist())
nest.Connect(excitatory, inhibitory, "one_to_one", {"weight": worker.TO_INH, "delay": task.dt})
others = worker.FROM_INH * (np.eye(n_neurons) - 1)
nest.Connect(inhibitory, excitatory, "all_to_all", {"weight": others, "delay": task.dt})
counter = nest.Create("spike_recorder")
nest.Connect(excitatory, counter)
nest.Prepare()
start = worker.since_start()
seconds = 0.0
for _ in range(n):
    if task.learn:
        weights = np.array(learned.get("weight"))
        weights *= worker.WEIGHT_SUM / np.bincount(to_neuron, weights, n_neurons)[to_neuron]
        learned.set(weight=weights.tolist())
    before = time.process_time()
    nest.Run(image_ms)
    seconds += time.process_time() - before
nest.Cleanup()
worker.answer(seconds, n, counter.n_events, start, worker.peak_mib(), f"NEST {nest.__version__}")
