"""neuroSush: its conductance synapses and triplet STDP with nearest spikes, dense, batch one.

What differs from the work of the others: instead of 150 ms of rest the state is reset. Input spikes are drawn outside
the measured time.
"""

import time
from importlib.metadata import version

import worker

# isort: split
from neurosush.core.network import Network, NeuronGroup, SynapseGroup
from neurosush.neurons.axon import Axon
from neurosush.neurons.dendrite import ConductanceIntegration
from neurosush.neurons.homeostasis import AdaptiveThreshold
from neurosush.neurons.inputs import SpikeInput
from neurosush.neurons.models import LIF, Fire, Refractory
from neurosush.recording import SpikeCounter
from neurosush.synapses.constraints import WeightClip, incoming_weight_sum
from neurosush.synapses.currents import DenseInput, OneToOneInput
from neurosush.synapses.init import WeightInit
from neurosush.synapses.traces import SpikeGather
from neurosush.synapses.triplet import TripletSTDP

import torch

torch.set_num_threads(1)
torch.set_grad_enabled(False)
task = worker.read_task()
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
n_steps, n_all = (round(ms / task.dt) for ms in (worker.SHOW, worker.SHOW + worker.REST))
exc, inh = worker.EXC, worker.INH


def drawn_steps():
    """Input spikes (inputs,) of each step of each image."""
    where = torch.from_numpy(task.spike_step), torch.from_numpy(task.spike_input).long()
    raster = torch.zeros(n * n_all, n_inputs, dtype=torch.bool)
    raster[where] = True
    return [step for image in raster.view(n, n_all, n_inputs)[:, :n_steps] for step in image]


def build(frames):
    """The network with the given weights and thresholds."""
    net = Network(dt=task.dt, seed=0)
    source = NeuronGroup(net, n_inputs, [SpikeInput(frames), Axon()])
    adaptive = [AdaptiveThreshold(increment=worker.THETA_STEP, tau=worker.TAU_THETA)] if task.learn else []
    excitatory = NeuronGroup(
        net,
        n_neurons,
        [
            ConductanceIntegration(
                e_exc=exc["rev_e"], e_inh=exc["rev_i"], tau_exc=worker.TAU_GE, tau_inh=worker.TAU_GI
            ),
            LIF(
                tau=exc["tau"],
                threshold=torch.from_numpy(task.theta + exc["offset"]).float(),
                v_reset=exc["reset"],
                v_rest=exc["rest"],
            ),
            Refractory(exc["refractory"]),
            Fire(),
            *adaptive,
            Axon(),
            SpikeCounter(),
        ],
    )
    partner = NeuronGroup(
        net,
        n_neurons,
        [
            ConductanceIntegration(e_exc=inh["rev_e"], tau_exc=worker.TAU_GE, tau_inh=worker.TAU_GI),
            LIF(tau=inh["tau"], threshold=inh["threshold"], v_reset=inh["reset"], v_rest=inh["rest"]),
            Refractory(inh["refractory"]),
            Fire(),
            Axon(),
        ],
        inhibitory=True,
    )
    plastic = TripletSTDP(
        a2_plus=0.0,
        a3_plus=worker.RATE_POST,
        a2_minus=worker.RATE_PRE,
        a3_minus=0.0,
        tau_plus=worker.TAU_PRE,
        tau_minus=worker.TAU_POST_1,
        tau_x=worker.TAU_PRE,
        tau_y=worker.TAU_POST_2,
        interaction="nearest",
    )
    learning = [plastic, WeightClip(w_min=0.0, w_max=worker.WEIGHT_MAX)] if task.learn else []
    resting = torch.from_numpy(task.resting.copy())
    learned = SynapseGroup(
        net, source, excitatory, [WeightInit(weights=resting), DenseInput(), SpikeGather(), *learning]
    )
    ones = torch.ones(n_neurons)
    others = worker.FROM_INH * (1 - torch.eye(n_neurons))
    to_partner = [WeightInit(weights=worker.TO_INH * ones, shape=(n_neurons,)), OneToOneInput(), SpikeGather()]
    SynapseGroup(net, excitatory, partner, to_partner)
    SynapseGroup(net, partner, excitatory, [WeightInit(weights=others), DenseInput(), SpikeGather()])
    net.initialize()
    return net, learned, excitatory


frames = drawn_steps()
build(frames)[0].run(2)
start = worker.since_start()
times, counted = [], 0
for _ in range(task.repeats):
    net, learned, excitatory = build(frames)
    counted = 0
    before = time.process_time()
    for _image in range(n):
        if task.learn:
            learned.weights = learned.weights * (worker.WEIGHT_SUM / incoming_weight_sum(learned))
        net.run(n_steps)
        counted += int(excitatory.spike_count.sum())
        net.reset_state()
    times.append(time.process_time() - before)
worker.answer(min(times), n, counted, start, worker.peak_mib(), f"neuroSush {version('neurosush')}")
