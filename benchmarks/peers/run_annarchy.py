"""ANNarchy: its compiled C++, exponential integration, single precision, input spikes given beforehand.

The weights are normalised from Python between images, outside the measured time: ANNarchy has no cheap way to do it.
"""

import tempfile
import time
from importlib.metadata import version

import worker

# isort: split
import ANNarchy as ann  # noqa: N813
import numpy as np

task = worker.read_task()
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
image_ms = worker.SHOW + worker.REST
exc, inh = worker.EXC, worker.INH

excitatory_model = ann.Neuron(
    parameters={
        "tau": exc["tau"],
        "v_rest": exc["rest"],
        "v_reset": exc["reset"],
        "offset": exc["offset"],
        "rev_i": exc["rev_i"],
        "tau_ge": worker.TAU_GE,
        "tau_gi": worker.TAU_GI,
        "step": worker.THETA_STEP if task.learn else 0.0,
    },
    equations="""
        tau * dv/dt = v_rest - v - g_exc * v + g_inh * (rev_i - v) : exponential, init=-65.0
        tau_ge * dg_exc/dt = -g_exc : exponential
        tau_gi * dg_inh/dt = -g_inh : exponential
        theta = theta : init=20.0
    """,
    spike="v > theta + offset",
    reset="v = v_reset\ntheta += step",
    refractory=exc["refractory"],
)
inhibitory_model = ann.Neuron(
    parameters={
        "tau": inh["tau"],
        "v_rest": inh["rest"],
        "v_reset": inh["reset"],
        "threshold": inh["threshold"],
        "tau_ge": worker.TAU_GE,
    },
    equations="""
        tau * dv/dt = v_rest - v - g_exc * v : exponential, init=-60.0
        tau_ge * dg_exc/dt = -g_exc : exponential
    """,
    spike="v > threshold",
    reset="v = v_reset",
    refractory=inh["refractory"],
)
triplet = ann.Synapse(
    parameters={
        "rate_pre": worker.RATE_PRE,
        "rate_post": worker.RATE_POST,
        "tau_pre": worker.TAU_PRE,
        "tau_1": worker.TAU_POST_1,
        "tau_2": worker.TAU_POST_2,
        "w_max": worker.WEIGHT_MAX,
    },
    equations="""
        tau_pre * dtrace/dt = -trace : event-driven
        tau_1 * dpost_1/dt = -post_1 : event-driven
        tau_2 * dpost_2/dt = -post_2 : event-driven
    """,
    pre_spike="g_target += w\nw = clip(w - rate_pre * post_1, 0.0, w_max)\ntrace = 1.0",
    post_spike="w = clip(w + rate_post * trace * post_2, 0.0, w_max)\npost_1 = 1.0\npost_2 = 1.0",
)

network = ann.Network(dt=task.dt, seed=1)
network.config(dtype=ann.float32, num_threads=1)
of_each = [[] for _ in range(n_inputs)]
for which, step in zip(task.spike_input.tolist(), task.spike_step.tolist(), strict=True):
    of_each[which].append(step * task.dt)
source = network.create(ann.SpikeSourceArray(spike_times=of_each))
excitatory = network.create(n_neurons, excitatory_model)
inhibitory = network.create(n_neurons, inhibitory_model)
learned = network.connect(source, excitatory, target="exc", synapse=triplet if task.learn else None)
learned.from_matrix(np.ascontiguousarray(task.resting.T))
network.connect(excitatory, inhibitory, target="exc").one_to_one(weights=worker.TO_INH)
network.connect(inhibitory, excitatory, target="inh").all_to_all(weights=worker.FROM_INH, allow_self_connections=False)
spikes = network.monitor(excitatory, ["spike"])
with tempfile.TemporaryDirectory() as folder:
    network.compile(directory=folder + "/annarchy/", silent=True)
    excitatory.theta = task.theta
    start = worker.since_start()
    seconds = 0.0
    for _ in range(n):
        if task.learn:
            rows = np.array(learned.w)
            learned.w = (rows * (worker.WEIGHT_SUM / rows.sum(axis=1, keepdims=True))).tolist()
        before = time.process_time()
        network.simulate(image_ms)
        seconds += time.process_time() - before
    counted = sum(len(times) for times in spikes.get("spike").values())
worker.answer(seconds, n, counted, start, worker.peak_mib(), f"ANNarchy {version('ANNarchy')}")
