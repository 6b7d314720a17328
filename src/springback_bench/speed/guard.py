"""The kernel against a fixed NumPy workload: a ratio that shows on any machine when the kernel has become slow."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from springback.spiking.inference import respond
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.training import init_training, learned, train

N_IMAGES, N_PLAIN = 150, 8


def measure_ratio(*, tries: int = 5) -> float:
    """Steps per second of the kernel over those of NumPy, each at the best of several tries that alternate.

    Times are those of the processor, and the best of each: what else the machine does hardly shows.

    The kernel learns, then tests, made-up images; NumPy does the membrane arithmetic of 400 neurons with four input
    spikes a step, in the same single precision.
    """
    kernel, plain = _kernel_work(), _numpy_work()
    kernel()
    plain()
    per_step = 2 * N_IMAGES / N_PLAIN
    times = [(_seconds(plain), _seconds(kernel)) for _ in range(tries)]
    return per_step * min(one for one, _ in times) / min(one for _, one in times)


def _kernel_work() -> Callable[[], Any]:
    circuit, stdp, show = Circuit(), LongTermStdp(), Presentation(spikes_min=0)
    rng = np.random.default_rng(0)
    images = (rng.random((N_IMAGES, 784)) < 0.2).astype(np.uint8) * np.uint8(200)
    state = init_training(circuit, stdp, seed=0)

    def run() -> None:
        after, _ = train(state, images, circuit=circuit, stdp=stdp, presentation=show)
        respond(learned(after, stdp, circuit), images, circuit=circuit, presentation=show)

    return run


def _numpy_work() -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    weights = rng.random((784, 400), np.float32)
    spikes = rng.integers(784, size=(700, 4))
    one = np.float32(1)

    def run() -> None:
        v, g = np.full(400, -65, np.float32), np.zeros(400, np.float32)
        for _ in range(N_PLAIN):
            for inputs in spikes:
                v = (v - np.float32(0.325)) / (one + np.float32(0.005) * (one + g))
                g *= np.float32(0.5)
                g += weights[inputs].sum(axis=0)
                np.flatnonzero(v > 0)

    return run


def _seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
