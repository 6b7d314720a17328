"""springback itself, in a process of its own like its peers; it draws its input spikes inside the measured time."""

# ruff: noqa: E402
import sys
import time
from pathlib import Path

import worker

# isort: split
sys.path[:0] = [str(Path(__file__).parents[3])]

from springback import __version__
from springback.spiking import RunState
from springback.spiking._state import long_term_rest, rest_state
from springback.spiking.inference import respond
from springback.spiking.training import train
from springback.spiking.weights import Weights
from springback_bench.speed.work import ONCE, PRESET

task = worker.read_task()
circuit, stdp = PRESET.circuit, PRESET.long_term
dtype = task.resting.dtype.name
at_rest, traces = rest_state(circuit, task.theta, dtype), long_term_rest(circuit, dtype)
begin = RunState(at_rest, traces=traces, resting=task.resting)
weights = Weights(task.resting, task.theta)


def run(images):
    """Output spikes to the images."""
    if task.learn:
        return train(begin, images, circuit=circuit, stdp=stdp, presentation=ONCE)[1]
    return respond(weights, images, circuit=circuit, presentation=ONCE)


run(task.images[:1])
start = worker.since_start()
times, counted = [], 0
for _ in range(task.repeats):
    before = time.process_time()
    counted = int(run(task.images).sum())
    times.append(time.process_time() - before)
worker.answer(min(times), len(task.images), counted, start, worker.peak_mib(), f"springback {__version__}")
