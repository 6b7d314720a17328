"""Batch normalisation for single frames, and a memory with all classes (Gong et al. 2022, "NOTE", NeurIPS)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.heads.search import Range
from springback_bench.rivals.networks.network_classifier import NetworkClassifier, entropies
from springback_bench.rivals.networks.normalisation import InstanceAwareNorm, use_single_frames, write
from springback_bench.rivals.rival import RATE, Rival
from torch import nn


class NoteState(NamedTuple):
    """Adam's state, statistics of the batch normalisation, and the memory.

    The memory has frames (M, *frame_shape) and their classes (M,), -1 where it is empty; `met` counts how often each
    class was answered so far, (K,).
    """

    values: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    steps: NDArray[np.int64]
    statistics: NDArray[np.float32]
    frames: NDArray[np.float32]
    classes: NDArray[np.int64]
    met: NDArray[np.int64]


class Note(NetworkClassifier):
    """Entropy steps on a memory that keeps all classes, in a network that uses single frames (NOTE).

    Batch normalisation becomes instance-aware: its statistics move towards those of a frame that clearly differs. A
    network without batch normalisation keeps its layers. Frames enter a memory of `n_memory` by prediction-balanced
    reservoir sampling: once it is full, a frame replaces a random one of the most frequent class, or, if its own class
    is the most frequent, a random one of its own, and that with a probability that keeps each class a fair sample of
    all its frames. After every `n_memory` frames, the network learns from the memory once: statistics move by
    `momentum` towards those of the memory, and scales and shifts by one step of Adam along the gradient of the mean
    entropy. The answer to a frame is the one before the step.

    Input: frames (T, *frame_shape). The method has no notion of time: `relax` and gaps between time stamps change
    nothing.

    Parameters
    ----------
    network : nn.Module
        A network with normalisation layers; a copy is adapted.
    frame_shape : Sequence[int]
        Shape of one frame.
    learning_rate : float
        Step of Adam; the default is that of the article.
    n_memory : int
        Frames in the memory, and between two steps; the article has 64.
    tolerance : float
        Standard errors by which a frame may differ before it counts; the article has 4. At 1e9, batch normalisation is
        as usual; if the learning rate and the momentum are 0 too, the network answers as it is.
    momentum : float
        Weight of the memory in the statistics; the article has 0.01.
    seed : int
        Seed of the draws from the memory.

    Examples
    --------
    >>> torch.manual_seed(0)  # doctest: +ELLIPSIS
    <torch...>
    >>> network = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.Flatten(), nn.Linear(6, 2))
    >>> model = Note(network, (2, 4), n_memory=2, learning_rate=0.1)
    >>> frames = np.random.default_rng(0).normal(size=(5, 2, 4))
    >>> model.track(frames).shape
    (5, 2)
    """

    def __init__(
        self,
        network: nn.Module,
        frame_shape: Sequence[int],
        *,
        learning_rate: float = 0.0001,
        n_memory: int = 64,
        tolerance: float = 4.0,
        momentum: float = 0.01,
        seed: int = 0,
    ) -> None:
        self.n_memory = check.integer("n_memory", n_memory, low=2)
        self.tolerance = check.real("tolerance", tolerance, low=0)
        self.momentum = check.real("momentum", momentum, low=0, high=1)
        self.seed = check.integer("seed", seed, low=0)
        super().__init__(network, frame_shape, learning_rate=learning_rate, statistics="stored")

    def _prepare(self, network: nn.Module) -> nn.Module:
        network = use_single_frames(network, self.tolerance, self.momentum)
        self._aware = [one for one in network.modules() if isinstance(one, InstanceAwareNorm)]
        self._averages = [part for layer in self._aware for part in (layer.running_mean, layer.running_var)]
        self._at_rest = self._averages_as_vector()
        return network

    def _averages_as_vector(self) -> NDArray[np.float32]:
        return np.concatenate([np.zeros(0, np.float32), *(one.numpy() for one in self._averages)])

    def _init(self) -> NoteState:
        return NoteState(
            *self._adam(),
            self._at_rest.copy(),
            np.zeros((self.n_memory, *self.frame_shape), np.float32),
            np.full(self.n_memory, -1),
            np.zeros(self.n_classes, np.int64),
        )

    def _load(self, state: NoteState) -> None:
        super()._load(state)
        write(self._averages, state.statistics)

    def _answer(self, state: NoteState, frame: torch.Tensor) -> NDArray[Any]:
        with torch.no_grad():
            answer = self._network(frame).softmax(dim=1)[0].numpy()
        self._remember(state, frame[0].numpy(), int(answer.argmax()))
        if state.met.sum() % self.n_memory == 0:
            self._learn(state)
        return np.asarray(answer)

    def _remember(self, state: NoteState, frame: NDArray[Any], label: int) -> None:
        state.met[label] += 1
        number = int(state.met.sum())
        rng = np.random.default_rng((self.seed, number))
        place = number - 1
        if place >= self.n_memory:
            held = np.bincount(state.classes, minlength=self.n_classes)
            fullest = np.flatnonzero(held == held.max())
            if label not in fullest:
                place = rng.choice(np.flatnonzero(state.classes == rng.choice(fullest)))
            elif rng.random() < held[label] / state.met[label]:
                place = rng.choice(np.flatnonzero(state.classes == label))
            else:
                return
        state.frames[place], state.classes[place] = frame, label

    def _learn(self, state: NoteState) -> None:
        for layer in self._aware:
            layer.train()
        try:
            with torch.enable_grad():
                self._descend(state, entropies(self._network(torch.tensor(state.frames))).mean())
        finally:
            for layer in self._aware:
                layer.eval()
        state.statistics[:] = self._averages_as_vector()


RIVALS = (
    Rival(
        name="note",
        title="NOTE",
        about="the same on a memory with all classes, with instance-aware normalisation",
        method=Note,
        reads="frames",
        ranges={
            "learning_rate": RATE,
            "n_memory": Range(8, 64, log=True, whole=True),
            "tolerance": Range(1.0, 16.0, log=True),
            "momentum": Range(0.001, 0.3, log=True),
        },
        microseconds=4_000,
    ),
)
