"""PymoNNtorch: behaviours of neurons and synapses in torch, dense, batch one, input spikes drawn beforehand.

It brings no neurons of its own, so they are written by hand as its examples do, with springback's linearly implicit
step. Between images, outside the measured time, the weights are normalised.
"""

import time
from importlib.metadata import version

import worker

# isort: split
from pymonntorch import Behavior, Network, NeuronGroup, SynapseGroup

import torch

torch.set_num_threads(1)
torch.set_grad_enabled(False)
task = worker.read_task()
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
n_all = round((worker.SHOW + worker.REST) / task.dt)
exc, inh = worker.EXC, worker.INH


def keep(tau):
    """What is left of a trace after one step."""
    return float(torch.exp(torch.tensor(-task.dt / tau)))


class Drawn(Behavior):
    """The inputs, whose spikes are given, and their traces."""

    def initialize(self, group):
        self.raster = torch.zeros(n * n_all, n_inputs, dtype=torch.bool)
        self.raster[torch.from_numpy(task.spike_step), torch.from_numpy(task.spike_input).long()] = True
        self.step, self.keep = 0, keep(worker.TAU_PRE)
        group.spikes, group.trace = self.raster[0], group.vector()

    def forward(self, group):
        group.spikes = self.raster[self.step]
        self.step += 1
        if task.learn:
            group.trace *= self.keep
            group.trace[group.spikes] = 1.0


class Membrane(Behavior):
    """Conductances, a linearly implicit step of the potential, spikes, and a pause after each."""

    def initialize(self, group):
        self.kind = self.parameter("kind")
        self.threshold = self.parameter("threshold")
        self.moves = self.parameter("moves")
        self.keep_e, self.keep_i = 1 - task.dt / worker.TAU_GE, 1 - task.dt / worker.TAU_GI
        self.keep_1, self.keep_2 = keep(worker.TAU_POST_1), keep(worker.TAU_POST_2)
        self.leak, self.pause = task.dt / self.kind["tau"], round(self.kind["refractory"] / task.dt)
        group.v = group.vector() + self.kind["rest"]
        group.g_e, group.g_i, group.waits = group.vector(), group.vector(), group.vector()
        group.post_1, group.post_2, group.before = group.vector(), group.vector(), group.vector()
        group.spikes = group.v > 0
        group.n_spikes = 0

    def forward(self, group):
        for synapse in group.synapses("afferent", "excites"):
            group.g_e += synapse.W[synapse.src.spikes].sum(0)
        for synapse in group.synapses("afferent", "inhibits"):
            group.g_i += synapse.W[synapse.src.spikes].sum(0)
        leak, g_e, g_i = self.leak, group.g_e, group.g_i
        moved = (group.v + leak * (self.kind["rest"] + exc["rev_i"] * g_i)) / (1 + leak * (1 + g_e + g_i))
        group.v = torch.where(group.waits > 0, group.v, moved)
        group.waits -= 1
        group.g_e *= self.keep_e
        group.g_i *= self.keep_i
        group.spikes = group.v > self.threshold
        group.v[group.spikes] = self.kind["reset"]
        group.waits[group.spikes] = self.pause
        group.n_spikes += int(group.spikes.sum())
        if self.moves:
            group.post_1 *= self.keep_1
            group.post_2 *= self.keep_2
            group.before = group.post_2.clone()
            group.post_1[group.spikes] = 1.0
            group.post_2[group.spikes] = 1.0
            self.threshold[group.spikes] += worker.THETA_STEP


class Fixed(Behavior):
    """Weights that stay."""

    def initialize(self, synapse):
        synapse.W = self.parameter("weights")


class Triplet(Behavior):
    """Triplet STDP with the nearest spikes."""

    def initialize(self, synapse):
        synapse.W = self.parameter("weights")

    def forward(self, synapse):
        inputs, neurons = synapse.src, synapse.dst
        if inputs.spikes.any():
            lowered = synapse.W[inputs.spikes] - worker.RATE_PRE * neurons.post_1
            synapse.W[inputs.spikes] = lowered.clamp(0.0, worker.WEIGHT_MAX)
        if neurons.spikes.any():
            gain = worker.RATE_POST * inputs.trace[:, None] * neurons.before[neurons.spikes]
            synapse.W[:, neurons.spikes] = (synapse.W[:, neurons.spikes] + gain).clamp(0.0, worker.WEIGHT_MAX)


def build():
    """The network with the given weights and thresholds."""
    net = Network()
    source = NeuronGroup(n_inputs, net, {1: Drawn()})
    thresholds = torch.from_numpy(task.theta + exc["offset"]).float()
    excitatory = NeuronGroup(n_neurons, net, {2: Membrane(kind=exc, threshold=thresholds, moves=task.learn)})
    partner = NeuronGroup(n_neurons, net, {3: Membrane(kind=inh, threshold=inh["threshold"], moves=False)})
    kind = Triplet if task.learn else Fixed
    resting = torch.from_numpy(task.resting.copy())
    learned = SynapseGroup(net, source, excitatory, "excites", {4: kind(weights=resting)})
    eye = torch.eye(n_neurons)
    SynapseGroup(net, excitatory, partner, "excites", {4: Fixed(weights=worker.TO_INH * eye)})
    SynapseGroup(net, partner, excitatory, "inhibits", {4: Fixed(weights=worker.FROM_INH * (1 - eye))})
    net.initialize(info=False)
    return net, learned, excitatory


build()[0].simulate_iterations(2, measure_block_time=False)
start = worker.since_start()
times, counted = [], 0
for _ in range(task.repeats):
    net, learned, excitatory = build()
    seconds = 0.0
    for _image in range(n):
        if task.learn:
            learned.W *= worker.WEIGHT_SUM / learned.W.sum(0)
        before = time.process_time()
        net.simulate_iterations(n_all, measure_block_time=False)
        seconds += time.process_time() - before
    times.append(seconds)
    counted = excitatory.n_spikes
worker.answer(min(times), n, counted, start, worker.peak_mib(), f"PymoNNtorch {version('pymonntorch')}")
