"""ANNarchy: its compiled C++, single precision, input spikes drawn beforehand.

Set up for speed: traces held by neurons, so that a synapse is one number. The equations are integrated by ANNarchy
(exponential, which is stable), or with the option "implicit" by the linearly implicit step that springback has, written
by hand: it spares exponentials. Its flags are set so that vanishing conductances do not become slow denormal numbers.
Between images, outside the measured time, the weights are normalised: ANNarchy has no cheap way to do it.
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
if "implicit" in task.option:
    of_exc = """
        v = (v + a * (v_rest + g_inh * rev_i)) / (1.0 + a * (1.0 + g_exc + g_inh)) : init=-65.0
        g_exc = keep_ge * g_exc
        g_inh = keep_gi * g_inh
    """
    of_inh = """
        v = (v + a * v_rest) / (1.0 + a * (1.0 + g_exc)) : init=-60.0
        g_exc = keep_ge * g_exc
    """
else:
    of_exc = """
        tau * dv/dt = v_rest - v - g_exc * v + g_inh * (rev_i - v) : exponential, init=-65.0
        tau_ge * dg_exc/dt = -g_exc : exponential
        tau_gi * dg_inh/dt = -g_inh : exponential
    """
    of_inh = """
        tau * dv/dt = v_rest - v - g_exc * v : exponential, init=-60.0
        tau_ge * dg_exc/dt = -g_exc : exponential
    """
traces, at_spike = "", ""
if task.learn:
    # A reset comes before the plasticity of the spike, which needs the second trace as it was.
    traces = "    post_1 = keep_1 * post_1\n        post_2 = keep_2 * post_2\n        before = before\n"
    at_spike = "\ntheta += theta_step\npost_1 = 1.0\nbefore = post_2\npost_2 = 1.0"
keep = {
    "tau_ge": worker.TAU_GE,
    "tau_gi": worker.TAU_GI,
    "keep_ge": 1 - task.dt / worker.TAU_GE,
    "keep_gi": 1 - task.dt / worker.TAU_GI,
    "keep_1": float(np.exp(-task.dt / worker.TAU_POST_1)),
    "keep_2": float(np.exp(-task.dt / worker.TAU_POST_2)),
    "theta_step": worker.THETA_STEP,
}
excitatory_model = ann.Neuron(
    parameters={
        "tau": exc["tau"],
        "v_rest": exc["rest"],
        "v_reset": exc["reset"],
        "offset": exc["offset"],
        "rev_i": exc["rev_i"],
        "a": task.dt / exc["tau"],
        **keep,
    },
    equations=of_exc + traces + "        theta = theta : init=20.0\n",
    spike="v > theta + offset",
    reset="v = v_reset" + at_spike,
    refractory=exc["refractory"],
)
inhibitory_model = ann.Neuron(
    parameters={
        "tau": inh["tau"],
        "v_rest": inh["rest"],
        "v_reset": inh["reset"],
        "threshold": inh["threshold"],
        "a": task.dt / inh["tau"],
        **keep,
    },
    equations=of_inh,
    spike="v > threshold",
    reset="v = v_reset",
    refractory=inh["refractory"],
)
relay_model = ann.Neuron(
    parameters={"keep_pre": float(np.exp(-task.dt / worker.TAU_PRE))},
    equations="trace = keep_pre * trace\ndrive = g_exc",
    spike="drive > 0.0",
    reset="trace = 1.0",
)
triplet = ann.Synapse(
    parameters={"rate_pre": worker.RATE_PRE, "rate_post": worker.RATE_POST, "w_max": worker.WEIGHT_MAX},
    pre_spike="g_target += w\nw = clip(w - rate_pre * post.post_1, 0.0, w_max)",
    post_spike="w = clip(w + rate_post * pre.trace * post.before, 0.0, w_max)",
)

network = ann.Network(dt=task.dt, seed=1)
network.config(dtype=ann.float32, num_threads=1)
of_each = [[] for _ in range(n_inputs)]
for which, step in zip(task.spike_input.tolist(), task.spike_step.tolist(), strict=True):
    of_each[which].append(step * task.dt)
source = network.create(ann.SpikeSourceArray(spike_times=of_each))
excitatory = network.create(n_neurons, excitatory_model)
inhibitory = network.create(n_neurons, inhibitory_model)
inputs = source
if task.learn:
    # A source cannot hold traces, so a relay of one neuron per pixel does.
    inputs = network.create(n_inputs, relay_model)
    network.connect(source, inputs, target="exc").one_to_one(weights=1.0)
learned = network.connect(inputs, excitatory, target="exc", synapse=triplet if task.learn else None)
learned.from_matrix(np.ascontiguousarray(task.resting.T))
network.connect(excitatory, inhibitory, target="exc").one_to_one(weights=worker.TO_INH)
network.connect(inhibitory, excitatory, target="inh").all_to_all(weights=worker.FROM_INH, allow_self_connections=False)
spikes = network.monitor(excitatory, ["spike"])
with tempfile.TemporaryDirectory() as folder:
    network.compile(directory=folder + "/annarchy/", compiler_flags="-march=native -O3 -ffast-math", silent=True)
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
