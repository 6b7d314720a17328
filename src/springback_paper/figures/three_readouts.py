"""A spiking network, read in three ways: one label for each neuron, votes of all spikes, and maximum likelihood.

Labels are used here alone: all three learn from the responses of the frozen network to still training images.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback.spiking.evaluation import responses_in, responses_to
from springback.spiking.fitting import class_profiles
from springback.spiking.model import SpikingModel
from springback.streaming import readout
from springback.streaming.metrics import Score, accuracy, score_video
from springback.streaming.records import Images, Video

READOUTS = ("hard labels", "votes", "likeliest")
"""`readout.classify`, which is the paper's, `readout.vote` and `readout.likeliest`."""


class ReadNetwork(NamedTuple):
    """A network with labelled neurons, and the mean response of each neuron to each class, (classes, n_neurons)."""

    model: SpikingModel
    mean_counts: NDArray[np.float64]

    def answers(self, counts: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """The class of each response, by readout."""
        classes = self.model.classes
        return {
            "hard labels": readout.classify(counts, self.model.neuron_labels, classes),
            "votes": readout.vote(counts, self.mean_counts, classes),
            "likeliest": readout.likeliest(counts, self.mean_counts, classes),
        }

    def recognise(self, images: Images, *, seed: int = 0) -> dict[str, float]:
        """The accuracy on still images, by readout."""
        found = self.answers(responses_to(self.model, images, seed=seed))
        return {name: accuracy(predicted, images.labels) for name, predicted in found.items()}

    def follow(self, video: Video, *, adapts: bool = True, seed: int = 0) -> dict[str, Score]:
        """How well the network follows a video, by readout."""
        parts = [self.answers(counts) for _, counts in responses_in(self.model, video, adapts=adapts, seed=seed)]
        return {name: score_video(np.concatenate([part[name] for part in parts]), video) for name in READOUTS}


def read_network(model: SpikingModel, images: Images) -> ReadNetwork:
    """The network with its neurons labelled, and their profiles measured, by these (training) images.

    Examples
    --------
    >>> from springback.data.pretrained import shipped_digits, shipped_spiking
    >>> network = read_network(shipped_spiking(), shipped_digits()[:50])
    >>> list(network.recognise(shipped_digits()[50:60]))
    ['hard labels', 'votes', 'likeliest']
    """
    profiles = class_profiles(model, images)
    sizes = readout.class_sizes(images.labels, model.classes)
    labels = readout.label_neurons(profiles * sizes[:, None], sizes)
    return ReadNetwork(replace(model, neuron_labels=labels), profiles)
