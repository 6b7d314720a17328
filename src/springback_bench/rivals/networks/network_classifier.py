"""What the methods that adapt a network share: a copy of it, its scales and shifts as a vector, and Adam."""

import copy
from abc import abstractmethod
from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import torch
from springback import check
from springback.streaming.stream_classifier import StreamClassifier
from springback_bench.rivals.networks.normalisation import forget_statistics, scales_and_shifts, write
from torch import nn

_BETAS = (0.9, 0.999)
_EPSILON = 1e-8


class AdamState(NamedTuple):
    """The scales and shifts of a network as one vector, (P,), Adam's two moments, (P,), and its steps so far, (1,)."""

    values: NDArray[np.float32]
    first: NDArray[np.float32]
    second: NDArray[np.float32]
    steps: NDArray[np.int64]


class NetworkClassifier(StreamClassifier):
    """A `StreamClassifier` whose input is frames, and whose state is the scales and shifts of a network.

    The network is copied, in float32 and on the processor; the one passed in is never changed. In the copy, the scales
    and shifts of batch, group, layer and instance normalisation follow the stream, and nothing else does. Dropout is
    off. To add a method, write `_init` and `_answer`.

    Input: frames (T, *frame_shape). The methods have no notion of time: `relax` and gaps between time stamps change
    nothing.

    Parameters
    ----------
    network : nn.Module
        Any network with normalisation layers that maps frames (N, *frame_shape) to logits (N, K).
    frame_shape : Sequence[int]
        Shape of one frame, for example (3, 32, 32).
    learning_rate : float
        Step of Adam; 0: scales and shifts stay as they are.
    statistics : str
        What batch normalisation normalises with: "stored", the statistics of the training data, or "seen", those of the
        frames that the network is given together. Networks without batch normalisation do not depend on it.

    Examples
    --------
    A method that moves no scale or shift:

    >>> class Frozen(NetworkClassifier):
    ...     def _init(self):
    ...         return self._adam()
    ...
    ...     def _answer(self, state, frame):
    ...         with torch.no_grad():
    ...             return self._network(frame).softmax(dim=1)[0].numpy()
    >>> network = nn.Sequential(nn.GroupNorm(1, 4), nn.Linear(4, 2))
    >>> frozen = Frozen(network, (4,), learning_rate=0.0, statistics="stored")
    >>> frozen.step([1.0, 2.0, 3.0, 4.0]).shape
    (2,)
    """

    dtype = np.float32

    def __init__(
        self, network: nn.Module, frame_shape: Sequence[int], *, learning_rate: float, statistics: str
    ) -> None:
        if not isinstance(network, nn.Module):
            raise TypeError(f"network must be a torch.nn.Module; got {type(network).__name__}")
        self.frame_shape = tuple(check.integer("frame_shape", size, low=1) for size in frame_shape)
        self.learning_rate = check.real("learning_rate", learning_rate, low=0)
        self.statistics = check.one_of("statistics", statistics, ("stored", "seen"))
        self._network = self._prepare(copy.deepcopy(network).float().cpu().eval().requires_grad_(False))
        if self.statistics == "seen":
            forget_statistics(self._network)
        self._moving = scales_and_shifts(self._network)
        must = "have normalisation layers with scale and shift, because the method adapts nothing else"
        check.require(bool(self._moving), "network", must, type(network).__name__)
        for one in self._moving:
            one.requires_grad_(True)
        self._source = _vector(self._moving)
        super().__init__(self._count_classes(), prod(self.frame_shape))

    def _prepare(self, network: nn.Module) -> nn.Module:
        """Change the copy before its scales and shifts are collected."""
        return network

    @abstractmethod
    def _answer(self, state: Any, frame: torch.Tensor) -> NDArray[Any]:
        """Answer one frame (1, *frame_shape) with probabilities (K,), and move `state` and the network."""

    @property
    def _row_shape(self) -> tuple[int, ...]:
        return self.frame_shape

    def _adam(self) -> AdamState:
        zeros = np.zeros_like(self._source)
        return AdamState(self._source.copy(), zeros, zeros.copy(), np.zeros(1, np.int64))

    def _load(self, state: Any) -> None:
        """Give the network the values of a state."""
        write(self._moving, state.values)

    def _run(self, state: Any, rows: NDArray[Any], gaps: NDArray[np.float64]) -> NDArray[Any]:  # noqa: ARG002
        self._load(state)
        answers = [self._answer(state, torch.tensor(row)[None]) for row in rows]
        return np.array(answers, np.float64).reshape(len(rows), self.n_classes)

    def _descend(self, state: Any, loss: torch.Tensor) -> None:
        """One step of Adam along the gradient of a loss."""
        gradients = torch.autograd.grad(loss, self._moving, materialize_grads=True)
        gradient = _vector(gradients)
        state.steps[:] += 1
        for moment, beta, now in zip((state.first, state.second), _BETAS, (gradient, gradient**2), strict=True):
            moment[:] = beta * moment + (1 - beta) * now
        mean, square = (
            moment / (1 - beta ** state.steps[0])
            for moment, beta in zip((state.first, state.second), _BETAS, strict=True)
        )
        state.values[:] -= self.learning_rate * mean / (np.sqrt(square) + _EPSILON)
        write(self._moving, state.values)

    def _count_classes(self) -> int:
        must = f"map frames (1, {', '.join(map(str, self.frame_shape))}) to logits (1, K)"
        try:
            with torch.no_grad():
                logits = self._network(torch.zeros(1, *self.frame_shape))
        except (RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"network must {must} with statistics {self.statistics!r}; got {reason}") from None
        check.require(logits.ndim == 2 and len(logits) == 1, "network", must, tuple(logits.shape))
        return int(logits.shape[1])


def entropies(logits: torch.Tensor) -> torch.Tensor:
    """Entropy in nats of the answer to each frame, (N,)."""
    return -(logits.softmax(dim=1) * logits.log_softmax(dim=1)).sum(dim=1)


def _vector(tensors: Sequence[torch.Tensor]) -> NDArray[np.float32]:
    return np.concatenate([one.detach().numpy().ravel() for one in tensors] or [np.zeros(0, np.float32)])
