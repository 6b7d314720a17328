"""BindsNET: its own Diehl & Cook neurons and pair STDP, dense, batch one or more, any time step.

What differs from the work of the others: synapses are currents (a spike adds its weight to the potential at once), so
the weights are scaled by the mean effect of a conductance; STDP has pairs, not triplets; instead of 150 ms of rest the
state is reset, as BindsNET's examples do. With a batch, the updates of its images are summed. Input spikes are drawn
outside the measured time.
"""

# ruff: noqa: E402
import sys
import time
from types import ModuleType
from unittest.mock import MagicMock

import worker

# isort: split
MV_PER_WEIGHT = 0.6


class Absent(ModuleType):
    """Stands for a library that BindsNET imports and does not need here."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)


for missing in (
    *(
        "ale_py",
        "cv2",
        "gymnasium",
        "gymnasium.spaces",
        "pandas",
        "tensorboardX",
        "torchvision",
        "torchvision.datasets",
    ),
    *("torchvision.transforms", "torchvision.utils", "torchvision.transforms.functional"),
    *("skimage", "skimage.transform", "skimage.color", "skimage.io", "skimage.measure"),
):
    sys.modules[missing] = Absent(missing)

from importlib.metadata import version

import numpy as np
from bindsnet.learning import PostPre
from bindsnet.network import Network
from bindsnet.network.monitors import Monitor
from bindsnet.network.nodes import DiehlAndCookNodes, Input, LIFNodes
from bindsnet.network.topology import Connection

import torch

torch.set_num_threads(1)
task = worker.read_task()
n, n_inputs, n_neurons = len(task.images), *task.resting.shape
n_steps = round(worker.SHOW / task.dt)


def build() -> Network:
    """The network with the given weights and thresholds."""
    exc, inh = worker.EXC, worker.INH
    network = Network(dt=task.dt, learning=task.learn)
    source = Input(n=n_inputs, traces=task.learn, tc_trace=worker.TAU_PRE)
    excitatory = DiehlAndCookNodes(
        n=n_neurons,
        traces=task.learn,
        tc_trace=worker.TAU_POST_1,
        rest=exc["rest"],
        reset=exc["reset"],
        thresh=exc["offset"],
        refrac=exc["refractory"],
        tc_decay=exc["tau"],
        theta_plus=worker.THETA_STEP,
        tc_theta_decay=worker.TAU_THETA,
        one_spike=False,
    )
    excitatory.theta.copy_(torch.from_numpy(task.theta))
    partner = LIFNodes(
        n=n_neurons,
        rest=inh["rest"],
        reset=inh["reset"],
        thresh=inh["threshold"],
        refrac=inh["refractory"],
        tc_decay=inh["tau"],
    )
    for layer, name in ((source, "inputs"), (excitatory, "excitatory"), (partner, "inhibitory")):
        network.add_layer(layer, name)
    learning = {"update_rule": PostPre, "nu": (worker.RATE_PRE, worker.RATE_POST), "norm": worker.WEIGHT_SUM}
    learning |= {"reduction": torch.sum} if task.batch > 1 else {}
    learning["nu"] = tuple(MV_PER_WEIGHT * rate for rate in learning["nu"])
    learning["norm"] *= MV_PER_WEIGHT
    learned = Connection(
        source,
        excitatory,
        w=MV_PER_WEIGHT * torch.from_numpy(task.resting.copy()),
        wmin=0.0,
        wmax=MV_PER_WEIGHT * worker.WEIGHT_MAX,
        **(learning if task.learn else {}),
    )
    eye = torch.eye(n_neurons)
    network.add_connection(learned, "inputs", "excitatory")
    network.add_connection(Connection(excitatory, partner, w=22.5 * eye), "excitatory", "inhibitory")
    network.add_connection(Connection(partner, excitatory, w=-17.5 * (1 - eye)), "inhibitory", "excitatory")
    network.add_monitor(Monitor(excitatory, ["s"], time=n_steps), "spikes")
    network.train(task.learn)
    return network


def drawn_batches() -> list[torch.Tensor]:
    """Input spikes (steps, batch, inputs) of the images, in batches."""
    chance = task.images * (worker.HZ_PER_LEVEL * task.dt * 1e-3)
    rng = np.random.default_rng(0)
    batches = []
    for first in range(0, n, task.batch):
        coins = rng.random((n_steps, len(chance[first : first + task.batch]), n_inputs), np.float32)
        batches.append(torch.from_numpy(coins < chance[first : first + task.batch]).byte())
    return batches


network, batches = build(), drawn_batches()
network.run({"inputs": batches[0][:2]}, time=2 * task.dt)
start = worker.since_start()
times, counted = [], 0
for _ in range(task.repeats):
    network, counted = build(), 0
    before = time.process_time()
    for spikes in batches:
        network.run({"inputs": spikes}, time=worker.SHOW)
        counted += int(network.monitors["spikes"].get("s").sum())
        network.reset_state_variables()
    times.append(time.process_time() - before)
worker.answer(min(times), n, counted, start, worker.peak_mib(), f"BindsNET {version('bindsnet')}")
