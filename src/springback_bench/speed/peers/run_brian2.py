"""Brian2: C++ standalone, or Cython at run time (option "cython").

Set up for speed: single precision; what fades becomes zero instead of denormal; traces held by neurons, so that a
synapse is one number; input spikes drawn beforehand, outside the measured time. The equations are integrated by Brian2
(exponential Euler, which is stable), or with the option "implicit" by the linearly implicit step that springback has,
written by hand: it spares exponentials.
"""

import shutil
import tempfile
import time
from pathlib import Path

import worker

# isort: split
import brian2 as b2
import numpy as np
from brian2 import ms

task = worker.read_task()
standalone, by_hand = "cython" not in task.option, "implicit" in task.option
folder = tempfile.mkdtemp()
b2.prefs.core.default_float_dtype = np.float32
b2.prefs.codegen.generators.cpp.flush_denormals = True
if standalone:
    b2.set_device("cpp_standalone", build_on_run=False, directory=folder)
else:
    b2.prefs.codegen.target = "cython"
    b2.prefs.codegen.runtime.cython.cache_dir = folder
dt, image_ms = task.dt, worker.SHOW + worker.REST
b2.defaultclock.dt = dt * ms

n, n_inputs, n_neurons = len(task.images), *task.resting.shape
exc, inh = worker.EXC, worker.INH
names = {
    "tau_e": exc["tau"] * ms,
    "tau_i": inh["tau"] * ms,
    "tau_ge": worker.TAU_GE * ms,
    "tau_gi": worker.TAU_GI * ms,
    "tau_pre": worker.TAU_PRE * ms,
    "tau_1": worker.TAU_POST_1 * ms,
    "tau_2": worker.TAU_POST_2 * ms,
    "a_e": dt / exc["tau"],
    "a_i": dt / inh["tau"],
    "keep_ge": 1 - dt / worker.TAU_GE,
    "keep_gi": 1 - dt / worker.TAU_GI,
    "keep_pre": np.exp(-dt / worker.TAU_PRE),
    "keep_1": np.exp(-dt / worker.TAU_POST_1),
    "keep_2": np.exp(-dt / worker.TAU_POST_2),
    "rest_e": exc["rest"],
    "reset_e": exc["reset"],
    "offset": exc["offset"],
    "rev_inh": exc["rev_i"],
    "rest_i": inh["rest"],
    "reset_i": inh["reset"],
    "threshold_i": inh["threshold"],
    "rate_pre": worker.RATE_PRE,
    "rate_post": worker.RATE_POST,
    "weight_max": worker.WEIGHT_MAX,
    "weight_sum": worker.WEIGHT_SUM,
    "theta_step": worker.THETA_STEP,
    "to_inh": worker.TO_INH,
    "from_inh": worker.FROM_INH,
}

# Potentials are plain numbers in mV, and the excitatory reversal potentials are 0, so their terms vanish. The threshold
# loses 5e-5 of itself in half a second of the training protocol; here it is held, which is less work.
if by_hand:
    of_exc = "v : 1\nge : 1\ngi : 1\n" + ("post_1 : 1\npost_2 : 1\n" if task.learn else "")
    of_inh, of_relay = "v : 1\nge : 1", "pre : 1"
else:
    of_exc = """
    dv/dt = ((rest_e - v) - ge * v + gi * (rev_inh - v)) / tau_e : 1 (unless refractory)
    dge/dt = -ge / tau_ge : 1
    dgi/dt = -gi / tau_gi : 1
    """
    if task.learn:
        of_exc += "dpost_1/dt = -post_1 / tau_1 : 1\ndpost_2/dt = -post_2 / tau_2 : 1\n"
    of_inh = "dv/dt = ((rest_i - v) - ge * v) / tau_i : 1 (unless refractory)\ndge/dt = -ge / tau_ge : 1"
    of_relay = "dpre/dt = -pre / tau_pre : 1"
excitatory = b2.NeuronGroup(
    n_neurons,
    of_exc + "theta : 1\n" + ("total : 1\n" if task.learn else ""),
    threshold="v > theta + offset",
    reset="v = reset_e" + ("\ntheta += theta_step\npost_1 = 1\npost_2 = 1" if task.learn else ""),
    refractory=exc["refractory"] * ms,
    method="exponential_euler",
    namespace=names,
)
inhibitory = b2.NeuronGroup(
    n_neurons,
    of_inh,
    threshold="v > threshold_i",
    reset="v = reset_i",
    refractory=inh["refractory"] * ms,
    method="exponential_euler",
    namespace=names,
)
if by_hand:
    excitatory.run_regularly(
        "next_v = (v + a_e * (rest_e + gi * rev_inh)) / (1 + a_e * (1 + ge + gi))\n"
        "v = int(not_refractory) * next_v + int(not not_refractory) * v\nge *= keep_ge\ngi *= keep_gi\n"
        + ("post_1 *= keep_1\npost_2 *= keep_2\n" if task.learn else ""),
        when="groups",
        order=1,
    )
    inhibitory.run_regularly(
        "next_v = (v + a_i * rest_i) / (1 + a_i * (1 + ge))\n"
        "v = int(not_refractory) * next_v + int(not not_refractory) * v\nge *= keep_ge\n",
        when="groups",
        order=1,
    )
drawn = b2.SpikeGeneratorGroup(n_inputs, task.spike_input, task.spike_step * dt * ms)
if task.learn:
    # A generator cannot hold traces, so a relay of one neuron per pixel does.
    relay = b2.NeuronGroup(
        n_inputs,
        of_relay + "\ndrive : 1",
        threshold="drive > 0",
        reset="drive = 0\npre = 1",
        method="exponential_euler",
        namespace=names,
    )
    if by_hand:
        relay.run_regularly("pre *= keep_pre", when="groups")
    feed = b2.Synapses(drawn, relay, on_pre="drive_post = 1")
    feed.connect(j="i")
    synapses = b2.Synapses(
        relay,
        excitatory,
        "w : 1",
        on_pre="ge_post += w\nw = clip(w - rate_pre * post_1_post, 0, weight_max)",
        on_post="w = clip(w + rate_post * pre_pre * post_2_post, 0, weight_max)",
        namespace=names,
    )
else:
    synapses = b2.Synapses(drawn, excitatory, "w : 1", on_pre="ge_post += w", namespace=names)
synapses.connect()
synapses.w = task.resting.ravel()
to_partner = b2.Synapses(excitatory, inhibitory, on_pre="ge_post += to_inh", namespace=names)
to_partner.connect(j="i")
to_others = b2.Synapses(inhibitory, excitatory, on_pre="gi_post += from_inh", namespace=names)
to_others.connect(condition="i != j")
excitatory.v, inhibitory.v, excitatory.theta = exc["rest"], inh["rest"], task.theta
if task.learn:
    excitatory.run_regularly("total = 0", dt=image_ms * ms, order=-3)
    synapses.run_regularly("total_post += w", dt=image_ms * ms, order=-2)
    synapses.run_regularly("w = w * weight_sum / total_post", dt=image_ms * ms, order=-1)
spikes = b2.SpikeMonitor(excitatory, record=False)
network = b2.Network(b2.collect())
duration = n * image_ms * ms

if standalone:
    # The program itself notes the processor time of the simulation and the most memory it has held.
    b2.device.insert_code("before_network_run", "std::clock_t begun = std::clock();")
    b2.device.insert_code(
        "after_network_run",
        """
        std::ofstream cost("cost.txt");
        cost << double(std::clock() - begun) / CLOCKS_PER_SEC << "\\n" << std::ifstream("/proc/self/status").rdbuf();
        """,
    )
    network.run(duration, namespace=names)
    b2.device.build(directory=folder, compile=True, run=False)
    start = worker.since_start()
    times = []
    for _ in range(task.repeats):
        b2.device.run(directory=folder, with_output=False)
        noted = (Path(folder) / "cost.txt").read_text().splitlines()
        times.append(float(noted[0]))
    memory = next(int(line.split()[1]) / 1024 for line in noted if line.startswith("VmHWM"))
else:
    network.store()
    network.run(2 * dt * ms, namespace=names)
    start = worker.since_start()
    times = []
    for _ in range(task.repeats):
        network.restore()
        before = time.process_time()
        network.run(duration, namespace=names)
        times.append(time.process_time() - before)
    memory = worker.peak_mib()
counted = int(spikes.num_spikes)
shutil.rmtree(folder, ignore_errors=True)
worker.answer(min(times), n, counted, start, memory, f"Brian2 {b2.__version__}")
