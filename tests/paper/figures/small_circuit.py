"""A circuit that needs no training: its neurons rest at mean digits, four for each class."""

from functools import cache

import numpy as np

from springback.data import load_mnist, make_omnist
from springback.spiking.model import SpikingModel
from springback.spiking.presets import springback_2026
from springback.spiking.weights import Weights

PER_CLASS = 4
THETA_MV = 53.0
PRESET = springback_2026(n_neurons=10 * PER_CLASS)


@cache
def small_model():
    digits = load_mnist("train")[:4000]
    means = [
        digits.pixels[digits.labels == label][part::PER_CLASS][:30].mean(axis=0)
        for label in range(10)
        for part in range(PER_CLASS)
    ]
    columns = np.stack(means).reshape(len(means), -1).T
    length = PRESET.long_term.weight_length
    weights = Weights(
        (length * columns / np.linalg.norm(columns, axis=0)).astype(np.float32),
        np.full(len(means), THETA_MV, np.float32),
    )
    labels = np.repeat(np.arange(10), PER_CLASS)
    return SpikingModel(preset=PRESET, weights=weights, neuron_labels=labels, data="means of mnist train")


@cache
def small_video():
    return make_omnist(load_mnist("train")[5000:5200], seed=0)
