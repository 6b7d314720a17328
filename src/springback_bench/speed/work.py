"""The spiking work that springback and its peers do: the same images, spikes, weights and thresholds for all."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.data import load_mnist
from springback.spiking._state import RunState
from springback.spiking.params import Circuit, LongTermStdp, Presentation
from springback.spiking.presets import moraitis_2020
from springback.spiking.training import init_training, learned, train
from springback.spiking.weights import Weights

PRESET = replace(moraitis_2020(), circuit=Circuit())
"""The paper's network with springback's implicit step in every membrane, which peers with a step by hand have, too."""

ONCE = Presentation(spikes_min=0)
"""Each image once, 350 ms at intensity 2 and 150 ms of rest, so that everyone shows the same number of images."""

N_BEFORE, N_IMAGES = 20_000, 1000


class Work(NamedTuple):
    """Training continues from `state`, testing uses `weights`; the `images` (n, 784) were not seen before."""

    state: RunState
    weights: Weights
    images: NDArray[np.uint8]


def the_work(
    *, circuit: Circuit = PRESET.circuit, stdp: LongTermStdp = PRESET.long_term, n_before: int = N_BEFORE
) -> Work:
    """A network that has learned the first training digits, and the thousand digits after them."""
    digits = load_mnist("train").pixels
    start = init_training(circuit, stdp, seed=0)
    state, _ = train(start, digits[:n_before], circuit=circuit, stdp=stdp, presentation=PRESET.training, seed=0)
    images = digits[n_before : n_before + N_IMAGES].reshape(N_IMAGES, -1)
    return Work(state, learned(state, stdp, circuit), np.ascontiguousarray(images))


def spikes_of(images: NDArray[np.uint8], seed: int = 0) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Input spikes (which pixel, in which step) of images shown one after the other: a coin for each pixel and step."""
    dt, rng = PRESET.circuit.dt_ms, np.random.default_rng(seed)
    n_show, n_all = round(ONCE.show_ms / dt), round((ONCE.show_ms + ONCE.rest_ms) / dt)
    which, when = [], []
    for number, image in enumerate(images):
        chance = image * (ONCE.rate_hz_per_level * ONCE.intensity * dt * 1e-3)
        step, pixel = np.nonzero(rng.random((n_show, len(image)), np.float32) < chance)
        which.append(pixel.astype(np.int32))
        when.append(step + number * n_all)
    return np.concatenate(which), np.concatenate(when)


def save_work(work: Work, path: Path, n_images: int) -> None:
    """Write the work for the peers (npz without pickles), with the spikes of the first `n_images`."""
    which, when = spikes_of(work.images[:n_images])
    resting, theta = work.weights
    np.savez(path, images=work.images[:n_images], spike_input=which, spike_step=when, resting=resting, theta=theta)
