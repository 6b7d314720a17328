"""A spiking network, read in three ways: one label for each neuron, votes of all spikes, and maximum likelihood.

Labels are used here alone: all three learn from the responses of the frozen network to still training images.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from springback import readout
from springback.metrics import Score, accuracy, score_video
from springback.records import Images, Video
from springback.spiking.gaps import follow, place_at_rest
from springback.spiking.model import SpikingModel
from springback.spiking.network import LABELLING, TESTING, respond

READOUTS = ("hard labels", "votes", "likeliest")
"""`readout.classify`, which is the paper's, `readout.vote` and `readout.likeliest`."""

_CHUNK = 1000


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
        found = self.answers(_responses(self.model, images, seed=seed, purpose=TESTING))
        return {name: accuracy(predicted, images.labels) for name, predicted in found.items()}

    def follow(self, video: Video, *, adapts: bool = True, seed: int = 0) -> dict[str, Score]:
        """How well the network follows a video, by readout."""
        place, parts = place_at_rest(self.model, adapts=adapts), []
        for chunk in video.chunks(_CHUNK):
            place, counts = follow(self.model, place, chunk.frames, seed=seed)
            parts.append(self.answers(counts))
        return {name: score_video(np.concatenate([part[name] for part in parts]), video) for name in READOUTS}


def read_network(model: SpikingModel, images: Images) -> ReadNetwork:
    """The network with its neurons labelled, and their profiles measured, by these (training) images.

    Examples
    --------
    >>> from springback.pretrained import shipped_digits, shipped_spiking
    >>> network = read_network(shipped_spiking(), shipped_digits()[:50])
    >>> list(network.recognise(shipped_digits()[50:60]))
    ['hard labels', 'votes', 'likeliest']
    """
    sizes = readout.class_sizes(images.labels, model.classes)
    total = np.zeros((len(model.classes), model.preset.circuit.n_neurons))
    for start in range(0, len(images), _CHUNK):
        part = images[start : start + _CHUNK]
        counts = _responses(model, part, seed=model.seed, purpose=LABELLING, first_number=start)
        total += readout.class_responses(counts, part.labels, model.classes)
    labels = readout.label_neurons(total, sizes)
    return ReadNetwork(replace(model, neuron_labels=labels), total / np.maximum(sizes, 1)[:, None])


def _responses(model: SpikingModel, images: Images, *, seed: int, **which: int) -> NDArray[np.int32]:
    shown = {"circuit": model.preset.circuit, "presentation": model.preset.testing}
    return respond(model.weights, images.pixels, seed=seed, **shown, **which)  # type: ignore[arg-type]
